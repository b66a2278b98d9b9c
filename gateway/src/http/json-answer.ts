import type { ServerResponse } from "node:http";
import { HEADER } from "@farmgate/shared";

/** Answers a value as JSON on the bare connection, where fastify does not stand in between. */
export function answerJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  { requestId, cors }: { requestId: string; cors: readonly string[] },
): void {
  if (response.headersSent || response.destroyed) return;
  const body = Buffer.from(JSON.stringify(value));
  const headers = ["content-type", "application/json", "content-length", String(body.length)];
  response.writeHead(status, [...headers, HEADER.requestId, requestId, ...cors]);
  response.end(body);
}
