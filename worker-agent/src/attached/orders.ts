import { adapterFor, type EngineCall, type PollResult, readErrorReason } from "@farmgate/engines";
import type { Clock } from "@farmgate/shared";
import type { ServedModel } from "../served-model.ts";
import type { EngineAnswer, EngineAsker } from "../swap/ask-engine.ts";
import { pause } from "../swap/pause.ts";
import type { AttachedEngine } from "./attached-engine.ts";

/** One load or unload: which model of which engine, and until when. */
export interface Order {
  engine: AttachedEngine;
  model: ServedModel;
  asker: EngineAsker;
  clock: Clock;
  /** On the clock. */
  deadline: number;
  signal: AbortSignal;
}

/** Between two looks of a wait, in milliseconds: from the first one up to the longest. */
const PAUSES = { first: 250, longest: 1_000 };

/** Asks the engine; null when it was answered well, or that it is so already; else what went wrong, as a sentence. */
export async function call(order: Order, { path, body, already }: Pick<EngineCall, "path" | "body" | "already">) {
  const answer = await ask(order, path, body);
  if (answer.status >= 200 && answer.status < 300) return null;
  if (already !== undefined && answer.status === already.status && already.text.test(answer.text)) return null;
  return failed(order, path, answer);
}

async function ask({ engine, asker, clock, deadline, signal }: Order, path: string, json: object) {
  const { url, apiKey } = engine.config;
  return asker.ask({ url: url + path, json, apiKey, limitMs: Math.max(1, deadline - clock.now()), signal });
}

function failed({ engine }: Order, path: string, { status, text }: EngineAnswer): string {
  const at = engine.config.url + path;
  if (status === 0) return `${at} did not answer: ${text}`;
  const reason = readErrorReason(text);
  return `${at} answered ${status}${reason === "" ? "" : `: ${reason}`}`;
}

/** A look that begins now, for as long as the order has; null: it was cut short. */
export function look({ engine, clock, deadline, signal }: Order): Promise<PollResult | null> {
  return new Promise((resolve) => {
    const end = (result: PollResult | null) => {
      stopTimer();
      signal.removeEventListener("abort", stop);
      resolve(result);
    };
    const stop = () => end(null);
    const stopTimer = clock.after(Math.max(0, deadline - clock.now()), stop);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    else void engine.look().then(end);
  });
}

/** What a look says of the order's model; null: nothing. */
export function stateIn(result: PollResult | null, model: ServedModel) {
  if (result?.kind !== "ok") return null;
  return result.report.models.find(({ id }) => id === model.engineName)?.state ?? "unlisted";
}

/** Looks until `read` has an answer; null: the time is over, or the order was stopped. */
export async function lookUntil<T>(order: Order, read: (result: PollResult | null) => T | null): Promise<T | null> {
  const { clock, deadline, signal } = order;
  for (let wait = PAUSES.first; ; wait = Math.min(2 * wait, PAUSES.longest)) {
    const answer = read(await look(order));
    if (answer !== null) return answer;
    const left = deadline - clock.now();
    if (left <= 0 || signal.aborted) return null;
    await pause(Math.min(wait, left), clock, signal);
  }
}

/** The adapter that the engine's last good list speaks for; null: it has never shown one. */
export function adapterOf(engine: AttachedEngine) {
  return engine.engine === null ? null : adapterFor(engine.engine);
}
