/**
 * Every error that Farmgate itself answers. A code, once published, is never given another meaning.
 * `type` is the OpenAI error type; `retry` says whether the same request may succeed later.
 */
const CATALOGUE = {
  invalid_request: { status: 400, type: "invalid_request_error", retry: false },
  invalid_api_key: { status: 401, type: "authentication_error", retry: false },
  model_not_allowed: { status: 403, type: "permission_error", retry: false },
  forbidden: { status: 403, type: "permission_error", retry: false },
  model_not_found: { status: 404, type: "invalid_request_error", retry: false },
  not_found: { status: 404, type: "invalid_request_error", retry: false },
  method_not_allowed: { status: 405, type: "invalid_request_error", retry: false },
  timeout_request: { status: 408, type: "timeout_error", retry: true },
  conflict: { status: 409, type: "invalid_request_error", retry: true },
  stale_order: { status: 409, type: "invalid_request_error", retry: false },
  body_too_large: { status: 413, type: "invalid_request_error", retry: false },
  upgrade_required: { status: 426, type: "invalid_request_error", retry: false },
  rate_limited: { status: 429, type: "rate_limit_error", retry: true },
  client_closed: { status: 499, type: "client_closed", retry: false },
  cancelled: { status: 499, type: "cancelled", retry: false },
  internal: { status: 500, type: "server_error", retry: false },
  not_supported: { status: 501, type: "invalid_request_error", retry: false },
  worker_failed: { status: 502, type: "server_error", retry: true },
  queue_full: { status: 503, type: "server_error", retry: true },
  no_worker: { status: 503, type: "server_error", retry: true },
  load_failed: { status: 503, type: "server_error", retry: true },
  draining: { status: 503, type: "server_error", retry: true },
  deadline: { status: 503, type: "server_error", retry: false },
  timeout_connect: { status: 504, type: "timeout_error", retry: true },
  timeout_first_byte: { status: 504, type: "timeout_error", retry: false },
  timeout_idle: { status: 504, type: "timeout_error", retry: false },
  timeout_queue: { status: 504, type: "timeout_error", retry: false },
  loop_detected: { status: 508, type: "invalid_request_error", retry: false },
} as const satisfies Record<string, { status: number; type: string; retry: boolean }>;

export type ErrorCode = keyof typeof CATALOGUE;

export interface FarmErrorDetails {
  /** The request field at fault, as in OpenAI's `param`. */
  param?: string;
  /** Seconds after which trying again makes sense. */
  retryAfterS?: number;
  /** Overrides the code's own answer to "may the same request succeed later?". */
  retry?: boolean;
  cause?: unknown;
}

/** An error that a caller is told. `message` is written for that caller and holds no secrets. */
export class FarmError extends Error {
  override readonly name = "FarmError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly retry: boolean;
  readonly param: string | null;
  readonly retryAfterS: number | null;
  /** What a log may say of it: the message, without what an engine may have quoted of a prompt. */
  logged: string;

  constructor(code: ErrorCode, message: string, details: FarmErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    const entry = CATALOGUE[code];
    this.code = code;
    this.status = entry.status;
    this.type = entry.type;
    this.retry = details.retry ?? entry.retry;
    this.param = details.param ?? null;
    this.retryAfterS = details.retryAfterS ?? null;
    this.logged = message;
  }
}

/** True for a code of this catalogue; used on what a worker agent answered. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && Object.hasOwn(CATALOGUE, code);
}
