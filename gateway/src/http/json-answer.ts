import type { ServerResponse } from "node:http";
import { type ApiFamily, requestIdHeaders } from "@farmgate/shared";

/** Answers a value as JSON on the bare connection, where fastify does not stand in between. */
export function answerJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  { family, requestId, headers: more }: { family: ApiFamily; requestId: string; headers: readonly string[] },
): void {
  if (response.headersSent || response.destroyed) return;
  const body = Buffer.from(JSON.stringify(value));
  const headers = ["content-type", "application/json", "content-length", String(body.length)];
  response.writeHead(status, [...headers, ...requestIdHeaders(family, requestId), ...more]);
  response.end(body);
}
