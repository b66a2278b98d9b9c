import type { AnswerPlan } from "./answer-plan.ts";
import type { AnswerHead, AnswerShape, AnswerTimings } from "./answer-shape.ts";

const STOP_REASONS = { stop: "end_turn", length: "max_tokens", tool_calls: "tool_use" } as const;

/** `/v1/messages`, the Anthropic way: named events, no `[DONE]`. */
export function messagesShape(plan: AnswerPlan, head: AnswerHead): AnswerShape {
  const message = { id: `chatcmpl-${head.id}`, type: "message", role: "assistant" };
  const reason = { stop_reason: STOP_REASONS[plan.finish], stop_sequence: null };
  const tool = { type: "tool_use", id: `call${head.id}`, name: plan.tool };
  const started = (timings: AnswerTimings) => ({
    ...message,
    content: [],
    model: plan.model,
    stop_reason: null,
    stop_sequence: null,
    usage: usage(plan, timings, 0),
  });
  const block = plan.tool === null ? { type: "text", text: "" } : { ...tool, input: {} };
  return {
    opening: (timings) =>
      event("message_start", { message: started(timings) }) +
      event("content_block_start", { index: 0, content_block: block }),
    token(piece) {
      const delta =
        plan.tool === null ? { type: "text_delta", text: piece } : { type: "input_json_delta", partial_json: piece };
      return event("content_block_delta", { index: 0, delta });
    },
    closing: () =>
      event("content_block_stop", { index: 0 }) +
      event("message_delta", { delta: reason, usage: { output_tokens: plan.pieces.length } }) +
      event("message_stop", {}),
    whole(timings) {
      const text = plan.pieces.join("");
      const content = plan.tool === null ? { type: "text", text } : { ...tool, input: JSON.parse(text) };
      return JSON.stringify({
        ...message,
        content: [content],
        model: plan.model,
        ...reason,
        usage: usage(plan, timings, plan.pieces.length),
      });
    },
  };
}

function usage(plan: AnswerPlan, timings: AnswerTimings, output: number): object {
  return {
    cache_read_input_tokens: timings.cachedTokens,
    input_tokens: plan.promptTokens - timings.cachedTokens,
    output_tokens: output,
  };
}

function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
