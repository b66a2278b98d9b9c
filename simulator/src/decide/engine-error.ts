/** An error as llama-server words it. */
export interface EngineError {
  status: number;
  type: string;
  message: string;
  extra?: Record<string, number>;
}

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  501: "not_supported_error",
  503: "unavailable_error",
};

export function engineError(status: number, message: string): EngineError {
  return { status, type: TYPES[status] ?? (status < 500 ? "invalid_request_error" : "server_error"), message };
}

export const LOADING: EngineError = engineError(503, "Loading model");

/** Malformed JSON is the server's fault to llama-server. */
export const NOT_JSON: EngineError = engineError(
  500,
  "[json.exception.parse_error.101] parse error at line 1, column 1: syntax error while parsing value",
);

export function isEngineError(value: object): value is EngineError {
  return "status" in value && "type" in value && "message" in value;
}

/** The body of an error answer. llama-server's front orders the members otherwise than its handlers do. */
export function errorBody(error: EngineError): string {
  const { status: code, message, type, extra } = error;
  const front = code === 401 || code === 404 || code === 503;
  return JSON.stringify({ error: front ? { message, type, code } : { code, message, type, ...extra } });
}
