import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import {
  type ApiFamily,
  errorBody,
  type ErrorCode,
  errorHeaders,
  type FarmError,
  requestIdHeaders,
} from "@farmgate/shared";

/** How much of a refused upload is thrown away before its connection is cut. */
const DISCARD_BYTES = 256 * 1_024 ** 2;
/** How long its sender may pause meanwhile, in milliseconds. */
const DISCARD_PAUSE_MS = 2_000;

/** Refusals by the thousand must be cheap: a new connection for each costs more than to read so many bytes, */
const SMALL_UPLOAD = 64 * 1_024;
/** when only these are told. */
const FREQUENT: ReadonlySet<ErrorCode> = new Set(["queue_full", "rate_limited"]);

export interface ErrorContext {
  family: ApiFamily;
  requestId: string;
  /** More headers, flat [name, value, ...]. */
  headers?: readonly string[];
}

/** Answers an error in the shape of the API that was called. Does nothing once an answer has begun. */
export function answerError(response: ServerResponse, error: FarmError, context: ErrorContext): void {
  if (response.headersSent || response.destroyed) return;
  const body = Buffer.from(JSON.stringify(errorBody(context.family, error, context.requestId)));
  const headers = ["content-type", "application/json", "content-length", String(body.length)];
  headers.push(...requestIdHeaders(context.family, context.requestId), ...Object.entries(errorHeaders(error)).flat());
  if (error.code === "invalid_api_key") headers.push("www-authenticate", "Bearer");
  headers.push(...(context.headers ?? []));
  const uploading = !response.req.complete;
  const readsRest = uploading && FREQUENT.has(error.code) && isSmallUpload(response.req.headers);
  if ((uploading && !readsRest) || error.code === "draining") headers.push("connection", "close");
  response.writeHead(error.status, headers);
  if (uploading && !readsRest) return endAfterUpload(response, body);
  response.end(body);
  if (readsRest) response.req.resume();
}

/** A caller who asks first sends its body, or not, by an answer that it has not had yet. */
function isSmallUpload({ "content-length": length, expect }: IncomingHttpHeaders): boolean {
  return length !== undefined && Number(length) <= SMALL_UPLOAD && expect === undefined;
}

/**
 * Closing while the caller still sends would reset the connection, and the answer could be lost on its way. So the
 * answer goes out, what comes in is thrown away, and the connection ends with the upload.
 */
export function endAfterUpload(response: ServerResponse, body: Buffer): void {
  const request = response.req;
  let discarded = 0;
  response.write(body);
  request.on("data", (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > DISCARD_BYTES) request.destroy();
  });
  request.once("end", () => response.end());
  request.setTimeout(DISCARD_PAUSE_MS, () => request.destroy());
  request.resume();
}
