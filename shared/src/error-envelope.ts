import type { FarmError } from "./errors.ts";

/** The three error shapes that callers know; which one is used follows the path that was called. */
export type ApiFamily = "openai" | "anthropic" | "ollama";

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** The body of an error answer, as an object ready for JSON. */
export function errorBody(family: ApiFamily, error: FarmError, requestId: string): object {
  switch (family) {
    case "openai":
      return { error: { message: error.message, type: error.type, param: error.param, code: error.code } };
    case "anthropic": {
      return anthropicError(error.status, error.message, requestId);
    }
    case "ollama":
      // By these words its clients know that they may ask for another model.
      return { error: error.code === "model_not_found" ? `model not found: ${error.message}` : error.message };
  }
}

/** The body of an error answer with this status as Anthropic has it. */
export function anthropicError(status: number, message: string, requestId: string): object {
  const type = ANTHROPIC_TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return { type: "error", error: { type, message }, request_id: requestId };
}

/** The longest wait that clients keep to, in seconds: OpenAI's takes no notice of a longer one and comes at once. */
const LONGEST_RETRY_AFTER_S = 60;

/** The headers that tell the official SDKs whether and when to try again. */
export function errorHeaders(error: FarmError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.retryAfterS !== null) {
    const seconds = Math.max(1, Math.ceil(error.retryAfterS));
    headers["retry-after"] = String(Math.min(LONGEST_RETRY_AFTER_S, seconds));
  }
  if (error.status >= 500 && !error.retry) headers["x-should-retry"] = "false";
  return headers;
}

/**
 * The piece of a stream that tells a break after the first byte. It starts with a blank line where the stream
 * stands inside an event (`atBoundary` false), so that a reader does not join it to the broken one.
 */
export function streamErrorChunk(family: ApiFamily, error: FarmError, requestId: string, atBoundary: boolean): string {
  return errorEvent(family, errorBody(family, error, requestId), atBoundary);
}

/** As `streamErrorChunk`, with a body that is an error of that API already. */
export function errorEvent(family: ApiFamily, errorObject: object, atBoundary: boolean): string {
  const body = JSON.stringify(errorObject);
  const gap = atBoundary ? "" : "\n\n";
  switch (family) {
    case "openai":
      return `${gap}data: ${body}\n\n`;
    case "anthropic":
      return `${gap}event: error\ndata: ${body}\n\n`;
    case "ollama":
      return `${atBoundary ? "" : "\n"}${body}\n`;
  }
}
