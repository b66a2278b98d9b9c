import { Agent, request } from "undici";

export interface JsonRequest {
  method?: "GET" | "POST";
  key?: string | null;
  body?: unknown;
  /** For the whole answer, in milliseconds. */
  timeoutMs: number;
  /** The certificate, as PEM, that must be shown there, whatever names it has; null: any that this machine trusts. */
  shows?: string | null;
}

export interface JsonAnswer {
  status: number;
  /** undefined where the body is no JSON. */
  value: unknown;
}

/** One small request whose answer is JSON. Rejects when there is no answer in time. */
export async function getJson(url: string, options: JsonRequest): Promise<JsonAnswer> {
  if (!options.shows) return ask(url, options, null);
  const connect = { ca: options.shows, allowPartialTrustChain: true, checkServerIdentity: () => undefined };
  const dispatcher = new Agent({ connect });
  try {
    return await ask(url, options, dispatcher);
  } finally {
    await dispatcher.destroy();
  }
}

async function ask(url: string, options: JsonRequest, dispatcher: Agent | null): Promise<JsonAnswer> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (options.key) headers["authorization"] = `Bearer ${options.key}`;
  if (options.body !== undefined) headers["content-type"] = "application/json";
  const answer = await request(url, {
    ...(dispatcher !== null && { dispatcher }),
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
