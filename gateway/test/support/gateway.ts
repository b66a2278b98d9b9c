import { type Clock, parseConfig, seededRandom } from "@farmgate/shared";
import { createLog, createSystemClock, type Log, type TlsPair } from "@farmgate/wire";
import { gatewayConfigSchema, type GatewayConfig, type RunningGateway, startGateway } from "../../src/index.ts";
import type { Hub } from "../../src/together/hub.ts";
import { cleanup } from "./cleanup.ts";

/** A configuration as a file would hold it, with a free port and quick polls. */
export function configOf(file: Record<string, unknown>): GatewayConfig {
  const text = JSON.stringify({
    listen: { port: 0 },
    health: { interval: "50ms", timeout: "1s" },
    drain: "20ms",
    workers: [],
    ...file,
  });
  const parsed = parseConfig(gatewayConfigSchema, text, {});
  if (!parsed.ok) throw new Error(parsed.problems.map(({ path, message }) => `${path}: ${message}`).join("\n"));
  return parsed.value;
}

/** A clock that runs so many times as fast, for what takes long. */
export function hurriedClock(times: number): Clock {
  const clock = createSystemClock();
  return {
    now: () => clock.now() * times,
    wall: () => clock.wall(),
    after: (ms, fn) => clock.after(ms / times, fn),
  };
}

/** A running gateway that stops with the test. */
export async function runGateway(
  file: Record<string, unknown>,
  {
    clock = createSystemClock(),
    log = createLog("gateway", "silent"),
    atEnd = cleanup,
    tls = null,
    hub,
  }: { clock?: Clock; log?: Log; atEnd?: (end: () => unknown) => void; tls?: TlsPair | null; hub?: Hub } = {},
): Promise<RunningGateway> {
  const gateway = await startGateway({
    config: configOf(file),
    tls,
    clock,
    random: seededRandom(1),
    log,
    version: "0.0.0-test",
    ...(hub !== undefined && { hub }),
  });
  atEnd(() => gateway.close());
  return gateway;
}

/** `workers` of a configuration: the fakes are agents, named in the order given. */
export function agents(workers: Record<string, { url: string }>, more: Record<string, unknown> = {}): object[] {
  return Object.entries(workers).map(([name, { url }]) => ({ name, url, engine: "agent", ...more }));
}

/** A chat request to the gateway. */
export function chat(
  gateway: RunningGateway,
  body: Record<string, unknown> | string = {},
  init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {},
): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify({ model: "m", messages: [], ...body });
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    body: text,
    ...init,
    headers: { "content-type": "application/json", ...init.headers },
  });
}

/** The code of an OpenAI error answer. */
export async function errorOf(response: Response): Promise<{ status: number; code: string; message: string }> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, code: error.code, message: error.message };
}
