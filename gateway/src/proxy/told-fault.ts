import { readErrorText } from "@farmgate/engines";
import { anthropicError, type ApiFamily, errorBody, FarmError, parseJson } from "@farmgate/shared";

/**
 * A worker's answer that its caller is at fault, as an error that can be told inside a stream.
 * (1) An error of the caller's own API is told as it is. (2) Any other is put into that API's shape. `body` is what came
 * of it; it may be cut off, or empty.
 */
export function toldFault(family: ApiFamily, status: number, body: string, requestId: string): object {
  const own = parsed(body);
  if (own !== null && isOwnError(family, own) && isWritable(own)) return own; // (1)
  const { message, type, code } = readErrorText(body);
  const error = new FarmError("invalid_request", message || `The worker refused the request with status ${status}.`);
  if (family === "anthropic") return anthropicError(status, error.message, requestId);
  if (family !== "openai") return errorBody(family, error, requestId);
  return { error: { message: error.message, type: type ?? error.type, param: null, code: code ?? error.code } }; // (2)
}

function isOwnError(family: ApiFamily, { error, type }: Record<string, unknown>): boolean {
  if (family === "ollama") return typeof error === "string";
  return typeof error === "object" && error !== null && (family === "openai" || type === "error");
}

function parsed(body: string): Record<string, unknown> | null {
  const value = parseJson(body);
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
}

/** One that is nested too deeply can be read, but not written. */
function isWritable(value: object): boolean {
  try {
    return JSON.stringify(value) !== "";
  } catch {
    return false;
  }
}
