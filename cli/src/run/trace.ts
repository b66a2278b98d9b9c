import { formatDuration, parseJson } from "@farmgate/shared";
import { request } from "undici";
import { CommandError, EXIT } from "../exit-code.ts";
import { type GatewayAccess, noAnswer, PATIENCE_MS, refused } from "../gateway-call.ts";
import type { Io } from "../io.ts";

const PATH = "/farm/trace";

export interface TraceOptions {
  gateway: string;
  key?: string;
  for?: number;
}

export async function trace(options: TraceOptions, io: Io): Promise<number> {
  const gateway = { url: options.gateway, key: options.key ?? io.env["FARMGATE_KEY"] ?? null };
  const stop = new AbortController();
  io.onSignal(() => stop.abort());
  const body = await open(gateway, stop.signal);
  const limit = options.for;
  io.stderr.write(`recording ${limit === undefined ? "until Ctrl-C" : `for ${formatDuration(limit)}`}\n`);
  const stopTimer = limit === undefined ? () => {} : io.clock.after(limit, () => stop.abort());
  const counted = { requests: 0, lost: 0 };
  let broke: string | null = null;
  try {
    await pass(body, io, stop, counted);
    if (!stop.signal.aborted) broke = "the gateway has stopped";
  } catch (error) {
    if (!stop.signal.aborted) broke = `the gateway broke off (${(error as Error).message})`;
  }
  stopTimer();
  const lost = counted.lost > 0 ? `, ${counted.lost} more were lost since this was read too slowly` : "";
  io.stderr.write(`${counted.requests} requests recorded${lost}\n`);
  if (broke !== null) throw new CommandError(broke);
  return EXIT.ok;
}

type Body = AsyncIterable<Buffer>;

async function open(gateway: GatewayAccess, signal: AbortSignal): Promise<Body> {
  const headers = gateway.key === null ? {} : { authorization: `Bearer ${gateway.key}` };
  const times = { headersTimeout: PATIENCE_MS, bodyTimeout: 0 };
  const answer = await request(gateway.url + PATH, { headers, signal, ...times }).catch((error: unknown) => {
    throw noAnswer(gateway, error);
  });
  if (answer.statusCode === 200 && /x-ndjson/.test(String(answer.headers["content-type"]))) return answer.body;
  const value = parseJson(await answer.body.text());
  throw refused(gateway, PATH, { status: answer.statusCode, value });
}

/** Prints whole lines only, so that what is ended in the middle of one can be read all the same. */
async function pass(
  body: Body,
  io: Io,
  stop: AbortController,
  counted: { requests: number; lost: number },
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of body) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    const said = lines.filter((line) => line !== "");
    for (const line of said) {
      const { at, lost } = (parseJson(line) ?? {}) as { at?: unknown; lost?: unknown };
      if (at !== undefined) counted.requests += 1;
      if (typeof lost === "number") counted.lost += lost;
    }
    if (said.length > 0) io.stdout.write(`${said.join("\n")}\n`);
    if (io.stdout.gone()) stop.abort();
  }
}
