import type { AnswerPlan } from "./answer-plan.ts";
import type { AnswerHead, AnswerShape, AnswerTimings } from "./answer-shape.ts";
import { FINGERPRINT, timingsOf } from "./usage.ts";

/** `/v1/responses`, text alone. Named events; the stream ends without `[DONE]`. */
export function responsesShape(plan: AnswerPlan, head: AnswerHead): AnswerShape {
  const id = `resp_${head.id}`;
  const item = `msg_${head.id}`;
  const text = plan.pieces.join("");
  const part = { type: "output_text", annotations: [], logprobs: [], text };
  const message = { type: "message", status: "completed", id: item, content: [part], role: "assistant" };
  const started = { id, object: "response", status: "in_progress", model: plan.model };
  const response = (timings: AnswerTimings) => ({
    id,
    object: "response",
    created_at: head.created,
    status: "completed",
    model: plan.model,
    system_fingerprint: FINGERPRINT,
    output: [message],
    usage: {
      input_tokens: plan.promptTokens,
      output_tokens: plan.pieces.length,
      total_tokens: plan.promptTokens + plan.pieces.length,
      input_tokens_details: { cached_tokens: timings.cachedTokens },
    },
  });
  const opened = { content: [], id: item, role: "assistant", status: "in_progress", type: "message" };
  return {
    opening: () =>
      event("response.created", { response: started }) +
      event("response.in_progress", { response: started }) +
      event("response.output_item.added", { item: opened }) +
      event("response.content_part.added", { item_id: item, part: { type: "output_text", text: "" } }),
    token: (piece) => event("response.output_text.delta", { item_id: item, delta: piece }),
    closing: (timings) =>
      event("response.output_text.done", { item_id: item, text }) +
      event("response.content_part.done", { item_id: item, part }) +
      event("response.output_item.done", { item: message }) +
      event("response.completed", { response: response(timings), timings: timingsOf(plan, timings) }),
    whole: (timings) => JSON.stringify({ ...response(timings), timings: timingsOf(plan, timings) }),
  };
}

function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
