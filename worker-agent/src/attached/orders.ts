import { type EngineCall, type PollResult, readErrorReason } from "@farmgate/engines";
import type { Clock, ModelState } from "@farmgate/shared";
import type { ServedModel } from "../served-model.ts";
import type { EngineAnswer, EngineAsker } from "../swap/ask-engine.ts";
import { pause } from "../swap/pause.ts";
import type { AttachedEngine } from "./attached-engine.ts";

/** Null: it was done; else what went wrong, as a sentence. */
export type Failure = string | null;

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

/** The agent stops. */
export const STOPPED = "it was stopped";

/** Between two looks of a wait, in milliseconds: from the first one up to the longest. */
const PAUSES = { first: 250, longest: 1_000 };

/** Asks the engine. An answer that means that it is so already is as good as 2xx. `status` 0: there was no answer. */
export async function call(
  { engine, asker, clock, deadline, signal }: Order,
  { path, body, already }: EngineCall,
): Promise<{ failure: Failure; status: number }> {
  const { url, ca, apiKey } = engine.config;
  const limitMs = Math.max(1, deadline - clock.now());
  const answer = await asker.ask({ url: url + path, json: body, ca, apiKey, limitMs, signal });
  const { status, text } = answer;
  const isSo = already !== undefined && status === already.status && already.text.test(text);
  if (isSo || (status >= 200 && status < 300)) return { failure: null, status };
  return { failure: signal.aborted ? STOPPED : failureOf(url + path, answer), status };
}

function failureOf(at: string, { status, text }: EngineAnswer): string {
  if (status === 0) return `${at} did not answer: ${text}`;
  const reason = readErrorReason(text);
  return `${at} answered ${status}${reason === "" ? "" : `: ${reason}`}`;
}

/** A look that begins now, for as long as the order has; null: it was cut short. */
export function look({ engine, clock, deadline, signal }: Order): Promise<PollResult | null> {
  return new Promise((resolve) => {
    const stop = () => end(null);
    const stopTimer = clock.after(Math.max(0, deadline - clock.now()), stop);
    const end = (result: PollResult | null) => {
      stopTimer();
      signal.removeEventListener("abort", stop);
      resolve(result);
    };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    else void engine.look().then(end);
  });
}

/** What a look says of a model; null: nothing. */
export function stateIn(result: PollResult | null, model: ServedModel): ModelState | "unlisted" | null {
  if (result?.kind !== "ok") return null;
  return result.report.models.find(({ id }) => id === model.engineName)?.state ?? "unlisted";
}

/** Why nobody is there; null: somebody is, or it is not sure. */
export function silence(result: PollResult | null): string | null {
  return result?.kind === "refused" || result?.kind === "dead" ? result.reason : null;
}

/** Looks until `read` has an answer; null: the time is over, or the order was stopped. */
export async function lookUntil<T>(order: Order, read: (result: PollResult | null) => T | null): Promise<T | null> {
  const { clock, deadline, signal } = order;
  for (let wait = PAUSES.first; ; wait = Math.min(2 * wait, PAUSES.longest)) {
    const answer = read(await look(order));
    const left = deadline - clock.now();
    if (answer !== null || left <= 0 || signal.aborted) return answer;
    await pause(Math.min(wait, left), clock, signal);
  }
}
