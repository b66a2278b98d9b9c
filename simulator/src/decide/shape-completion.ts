import type { AnswerPlan } from "./answer-plan.ts";
import type { AnswerHead, AnswerShape } from "./answer-shape.ts";
import { FINGERPRINT, timingsOf, usageOf } from "./usage.ts";

/** `/v1/completions`. The last chunk carries usage and timings whether asked for or not. */
export function completionShape(plan: AnswerPlan, head: AnswerHead): AnswerShape {
  const common = {
    created: head.created,
    model: plan.model,
    system_fingerprint: FINGERPRINT,
    object: "text_completion",
  };
  const id = `chatcmpl-${head.id}`;
  const choice = (text: string, finish: string | null) => ({ text, index: 0, logprobs: null, finish_reason: finish });
  const after = `,"index":0,"logprobs":null,"finish_reason":null}],${JSON.stringify({ ...common, id }).slice(1)}\n\n`;
  return {
    opening: () => "",
    token: (piece) => `data: {"choices":[{"text":${JSON.stringify(piece)}${after}`,
    closing(timings) {
      const last = { usage: usageOf(plan, timings), id, timings: timingsOf(plan, timings) };
      const body = { choices: [choice("", plan.finish)], ...common, ...last };
      return `data: ${JSON.stringify(body)}\n\ndata: [DONE]\n\n`;
    },
    whole: (timings) =>
      JSON.stringify({
        choices: [choice(plan.pieces.join(""), plan.finish)],
        ...common,
        usage: usageOf(plan, timings),
        id,
        timings: timingsOf(plan, timings),
      }),
  };
}
