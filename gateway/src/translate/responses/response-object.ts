import type { Figures } from "../chat/figures.ts";
import { objectOf } from "../json-fields.ts";
import type { JsonObject, TranslationContext } from "../translation.ts";

/** How far a response has come. */
export interface ResponseState {
  status: "in_progress" | "completed" | "incomplete";
  /** As the worker names it; empty: not yet told. */
  model: string;
  output: readonly object[];
  /** Why it is incomplete. */
  reason: "max_output_tokens" | "content_filter" | null;
  figures: Figures;
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
    usage: usageOf(state.figures),
  };
}

function usageOf({ promptTokens, cachedTokens, answerTokens, thoughtTokens }: Figures): object | null {
  if (promptTokens === null && answerTokens === null) return null;
  const input = promptTokens ?? 0;
  const output = answerTokens ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cachedTokens ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thoughtTokens ?? 0 },
    total_tokens: input + output,
  };
}
