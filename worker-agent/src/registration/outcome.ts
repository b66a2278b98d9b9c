import { parseJson, type Random, registeredSchema } from "@farmgate/shared";

/** What came of a try to register. */
export type Outcome =
  | { kind: "in"; leaseMs: number }
  /** By what the gateway says; somebody has to change something. */
  | { kind: "refused"; why: string }
  /** Nothing that a gateway would say. */
  | { kind: "away"; why: string };

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** After a refusal. */
const REFUSED_PAUSE_MS = 60_000;
/** So many times a lease is renewed while it holds. */
const RENEWALS = 3;

/** Reads the gateway's answer. */
export function outcomeOf(status: number, body: string): Outcome {
  const value = parseJson(body);
  const registered = registeredSchema.safeParse(value);
  if (status === 200) {
    return registered.success
      ? { kind: "in", leaseMs: registered.data.leaseMs }
      : { kind: "refused", why: "what answers there is no gateway that takes registrations" };
  }
  const why = `it answers ${status}${wordsOf(value)}`;
  // What passes by itself: it stops, is asked too much, or a proxy finds it gone.
  const passes = status >= 500 || status === 408 || status === 429;
  return { kind: passes ? "away" : "refused", why };
}

/** How long to wait before the next try, in milliseconds. `fruitless`: tries without an answer in a row, this one too. */
export function nextPauseMs(outcome: Outcome, fruitless: number, random: Random): number {
  // A lease that holds for longer is renewed so often all the same: the gateway may have been restarted.
  if (outcome.kind === "in") return Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, outcome.leaseMs / RENEWALS));
  if (outcome.kind === "refused") return REFUSED_PAUSE_MS;
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(fruitless, 10));
  // By chance, so that the agents of a farm do not all come in the same moment.
  return FIRST_PAUSE_MS + (longest - FIRST_PAUSE_MS) * random();
}

function wordsOf(value: unknown): string {
  const message = (value as { error?: { message?: unknown } } | null | undefined)?.error?.message;
  return typeof message === "string" ? `: ${message.slice(0, 500)}` : "";
}
