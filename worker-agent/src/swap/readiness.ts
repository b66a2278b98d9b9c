import { type Clock, formatDuration } from "@farmgate/shared";
import type { ServedModel } from "../served-model.ts";
import type { EngineAnswer, EngineAsker } from "./ask-engine.ts";
import { namesModel } from "./engine-list.ts";
import { pause } from "./pause.ts";

/** Limit on one look, in milliseconds. */
const LOOK_MS = 2_000;
/** Limit on one token, in milliseconds: the first one after a load can take long. */
const TOKEN_MS = 30_000;

/** null: ready to answer; else what is missing, in words. */
type Missing = string | null;

/**
 * Looks once whether the model is ready, cheapest question first:
 * 1. Where the address is shared, or `ready: models`, the engine's list must name the model.
 * 2. `ready: health`: the health path must answer 2xx.
 * 3. `ready: generate`: one token must come. Asked last, since some engines load a model that is asked for.
 */
export async function lookReady(
  model: ServedModel,
  asker: EngineAsker,
  signal: AbortSignal,
  limitMs: number = LOOK_MS,
): Promise<Missing> {
  const { ca } = model;
  const short = Math.min(limitMs, LOOK_MS);
  if (model.sharesUrl || model.ready === "models") {
    const list = await asker.ask({ url: `${model.url}/v1/models`, json: null, ca, limitMs: short, signal });
    if (!isGood(list)) return `/v1/models ${told(list)}`;
    if (!namesModel(list.text, model.engineName)) return `/v1/models does not name ${model.engineName} as loaded`;
  }
  if (model.ready === "health") {
    const health = await asker.ask({ url: model.url + model.health, json: null, ca, limitMs: short, signal });
    if (!isGood(health)) return `${model.health} ${told(health)}`;
  }
  if (model.ready === "generate") {
    const json = { model: model.engineName, messages: [{ role: "user", content: "Hi" }], max_tokens: 1 };
    const token = await asker.ask({ url: `${model.url}/v1/chat/completions`, json, ca, limitMs, signal });
    if (!isGood(token)) return `/v1/chat/completions ${told(token)}`;
  }
  return null;
}

export interface ReadinessWait {
  /** On the clock. */
  deadline: number;
  pollMs: number;
  clock: Clock;
  signal: AbortSignal;
}

/** Looks every `pollMs` until the model is ready (null) or the deadline has passed (what was missing last). */
export async function waitReady(model: ServedModel, asker: EngineAsker, wait: ReadinessWait): Promise<Missing> {
  const { deadline, pollMs, clock, signal } = wait;
  let missing: Missing = null;
  for (;;) {
    const left = deadline - clock.now();
    if (left <= 0) break;
    const seen = await lookReady(model, asker, signal, Math.min(left, TOKEN_MS));
    if (seen === null) return null;
    if (signal.aborted) return "the wait was stopped";
    // A look that the deadline cut short tells less than the one before it.
    if (missing === null || left >= LOOK_MS) missing = seen;
    await pause(Math.min(pollMs, Math.max(0, deadline - clock.now())), clock, signal);
  }
  const limit = formatDuration(model.timeoutMs);
  return `${model.url} was not ready within ${limit}: ${missing ?? "the script took all of it"}`;
}

function isGood(answer: EngineAnswer): boolean {
  return answer.status >= 200 && answer.status < 300;
}

function told(answer: EngineAnswer): string {
  return answer.status === 0 ? `did not answer: ${answer.text}` : `answered ${answer.status}`;
}
