import { numberOf, objectOf } from "../json-fields.ts";
import type { JsonObject, TranslationContext } from "../translation.ts";

/** How far a response has come. */
export interface ResponseState {
  status: "in_progress" | "completed" | "incomplete";
  /** As the worker names it; empty: not yet told. */
  model: string;
  output: readonly object[];
  /** Why it is incomplete. */
  reason: "max_output_tokens" | "content_filter" | null;
  /** As chat has it. */
  usage: JsonObject | null;
}

/** The `response` object, which repeats the request's settings. Usage stands last, where it is found in a long one. */
export function responseObject(body: JsonObject, context: TranslationContext, state: ResponseState): object {
  const reasoning = objectOf(body["reasoning"]);
  return {
    id: `resp_${context.requestId}`,
    object: "response",
    created_at: Math.floor(context.wallMs / 1_000),
    status: state.status,
    background: false,
    error: null,
    incomplete_details: state.reason === null ? null : { reason: state.reason },
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    model: state.model || context.model,
    output: state.output,
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: null,
    reasoning: { effort: reasoning["effort"] ?? null, summary: reasoning["summary"] ?? null },
    store: false,
    temperature: body["temperature"] ?? null,
    text: { format: { type: "text" }, ...objectOf(body["text"]) },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: body["tools"] ?? [],
    top_p: body["top_p"] ?? null,
    truncation: body["truncation"] ?? "disabled",
    metadata: body["metadata"] ?? {},
    usage: state.usage === null ? null : usageOf(state.usage),
  };
}

function usageOf(usage: JsonObject): object {
  const input = numberOf(usage["prompt_tokens"]) ?? 0;
  const output = numberOf(usage["completion_tokens"]) ?? 0;
  const cached = numberOf(objectOf(usage["prompt_tokens_details"])["cached_tokens"]) ?? 0;
  const reasoned = numberOf(objectOf(usage["completion_tokens_details"])["reasoning_tokens"]) ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoned },
    total_tokens: numberOf(usage["total_tokens"]) ?? input + output,
  };
}
