import type { AnswerPlan } from "./answer-plan.ts";
import type { AnswerShape, AnswerTimings } from "./answer-shape.ts";
import { timingsOf } from "./usage.ts";

/** llama.cpp's own `/completion` and `/infill`: the last event carries the figures, and no mark follows it. */
export function nativeShape(plan: AnswerPlan): AnswerShape {
  let sent = 0;
  const figures = () => ({ tokens_predicted: sent, tokens_evaluated: plan.promptTokens });
  const last = (content: string, timings: AnswerTimings) => ({
    index: 0,
    content,
    tokens: [],
    id_slot: 0,
    stop: true,
    model: plan.model,
    tokens_predicted: plan.pieces.length,
    tokens_evaluated: plan.promptTokens,
    generation_settings: { stream: plan.stream, n_predict: plan.pieces.length, simulated: true },
    prompt: plan.prompt,
    has_new_line: false,
    truncated: false,
    stop_type: plan.finish === "length" ? "limit" : "eos",
    stopping_word: "",
    tokens_cached: plan.promptTokens + plan.pieces.length - 1,
    timings: timingsOf(plan, timings),
  });
  return {
    opening: () => "",
    token(piece) {
      sent += 1;
      return event({ index: 0, content: piece, tokens: [sent], stop: false, id_slot: -1, ...figures() });
    },
    closing: (timings) => event(last("", timings)),
    whole: (timings) => JSON.stringify(last(plan.pieces.join(""), timings)),
  };
}

function event(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
