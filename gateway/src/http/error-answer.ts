import type { ServerResponse } from "node:http";
import { type ApiFamily, errorBody, errorHeaders, type FarmError, HEADER } from "@farmgate/shared";

export interface ErrorContext {
  family: ApiFamily;
  requestId: string;
  /** Flat. */
  cors: readonly string[];
}

/** Answers an error in the shape of the API that was called. Does nothing once an answer has begun. */
export function answerError(response: ServerResponse, error: FarmError, context: ErrorContext): void {
  if (response.headersSent || response.destroyed) return;
  const body = Buffer.from(JSON.stringify(errorBody(context.family, error, context.requestId)));
  const headers = ["content-type", "application/json", "content-length", String(body.length)];
  headers.push(HEADER.requestId, context.requestId);
  for (const [name, value] of Object.entries(errorHeaders(error))) headers.push(name, value);
  if (error.code === "invalid_api_key") headers.push("www-authenticate", "Bearer");
  for (const part of context.cors) headers.push(part);
  if (!response.req.complete) {
    answerBeforeTheBody(response, error.status, headers, body);
    return;
  }
  if (error.code === "draining") headers.push("connection", "close");
  response.writeHead(error.status, headers);
  response.end(body);
}

/** How much of a refused upload is read and thrown away, so that its sender gets to read the answer. */
const LINGER_BYTES = 256 * 1_024 ** 2;

/**
 * The caller is still sending. Closing now would reset the connection and could destroy the answer on its way:
 * it is sent, what comes is thrown away, and the connection is closed when the caller has finished.
 */
function answerBeforeTheBody(response: ServerResponse, status: number, headers: string[], body: Buffer): void {
  const request = response.req;
  response.writeHead(status, [...headers, "connection", "close"]);
  response.write(body);
  let discarded = 0;
  request.on("data", (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > LINGER_BYTES) request.destroy();
  });
  request.once("end", () => response.end());
  request.resume();
}
