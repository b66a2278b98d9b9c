import type { AnswerPlan } from "./answer-plan.ts";
import type { AnswerHead, AnswerShape, AnswerTimings } from "./answer-shape.ts";
import { FINGERPRINT, timingsOf, usageOf } from "./usage.ts";

/** `/v1/chat/completions`. Usage comes in a last chunk of its own, when asked for; timings on the last chunk. */
export function chatShape(plan: AnswerPlan, head: AnswerHead): AnswerShape {
  const id = `chatcmpl-${head.id}`;
  const { created } = head;
  const common = { created, id, model: plan.model, system_fingerprint: FINGERPRINT, object: "chat.completion.chunk" };
  const event = (choices: readonly unknown[], more: object = {}) =>
    `data: ${JSON.stringify({ choices, ...common, ...more })}\n\n`;
  const delta = (value: object, finish: string | null = null) => ({ finish_reason: finish, index: 0, delta: value });
  // The hot path: all but the text of a token event is the same.
  const before =
    plan.tool === null
      ? `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":`
      : `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":`;
  const after = `${plan.tool === null ? "" : "}}]"}}}],${JSON.stringify(common).slice(1)}\n\n`;
  let toolOpened = plan.tool === null;
  return {
    opening: () => event([delta({ role: "assistant", content: null })]),
    token(piece) {
      if (toolOpened) return before + JSON.stringify(piece) + after;
      toolOpened = true;
      const call = { name: plan.tool, arguments: piece };
      return event([delta({ tool_calls: [{ index: 0, id: `call${head.id}`, type: "function", function: call }] })]);
    },
    closing(timings) {
      const last = { timings: timingsOf(plan, timings) };
      const end = [delta({}, plan.finish)];
      if (!plan.includeUsage) return `${event(end, last)}data: [DONE]\n\n`;
      return `${event(end)}${event([], { usage: usageOf(plan, timings), ...last })}data: [DONE]\n\n`;
    },
    whole: (timings) => whole(plan, head, timings),
  };
}

function whole(plan: AnswerPlan, head: AnswerHead, timings: AnswerTimings): string {
  const text = plan.pieces.join("");
  const call = { type: "function", function: { name: plan.tool, arguments: text }, id: `call${head.id}` };
  const message =
    plan.tool === null ? { role: "assistant", content: text } : { role: "assistant", content: "", tool_calls: [call] };
  return JSON.stringify({
    choices: [{ finish_reason: plan.finish, index: 0, message }],
    created: head.created,
    model: plan.model,
    system_fingerprint: FINGERPRINT,
    object: "chat.completion",
    usage: usageOf(plan, timings),
    id: `chatcmpl-${head.id}`,
    timings: timingsOf(plan, timings),
  });
}
