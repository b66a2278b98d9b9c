import { request } from "undici";

export interface JsonRequest {
  method?: "GET" | "POST";
  key?: string | null;
  body?: unknown;
  /** For the whole answer, in milliseconds. */
  timeoutMs: number;
}

export interface JsonAnswer {
  status: number;
  /** undefined where the body is no JSON. */
  value: unknown;
}

/** One small request whose answer is JSON. Rejects when there is no answer in time. */
export async function getJson(url: string, options: JsonRequest): Promise<JsonAnswer> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (options.key) headers["authorization"] = `Bearer ${options.key}`;
  if (options.body !== undefined) headers["content-type"] = "application/json";
  const answer = await request(url, {
    method: options.method ?? "GET",
    headers,
    body: options.body === undefined ? null : JSON.stringify(options.body),
    signal: AbortSignal.timeout(options.timeoutMs),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, value: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
