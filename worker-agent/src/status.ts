import {
  type AgentCatalog,
  type AgentCatalogModel,
  CATALOG_PROTOCOL,
  kindOfName,
  MAX_WAITING_TOLD,
  type Temperature,
} from "@farmgate/shared";
import type { WeightsState } from "./files/file-states.ts";
import type { Learned } from "./figures/learned.ts";
import type { Promises } from "./figures/promises.ts";
import { type ForecastCosts, predictedWaits } from "./queue/forecast.ts";
import { type Longest, promisedWait, type Terms, termsOf } from "./queue/promise.ts";
import type { SchedulerRules, SchedulerView, WaitingJob } from "./queue/types.ts";
import { spokenOf } from "./serve/spoken.ts";
import type { ServedModel } from "./served-model.ts";

export interface Identity {
  name: string;
  version: string;
}

/** An attached engine, as `/health` tells of it. */
export interface EngineStatus {
  url: string;
  engine: string | null;
  /** `up`, or what is wrong with it. */
  state: string;
}

/** The agent at one moment, on the scheduler's clock. */
export interface Moment {
  now: number;
  models: readonly ServedModel[];
  rules: SchedulerRules;
  view: SchedulerView;
  waiting: readonly WaitingJob[];
  learned: Learned;
  promises: Promises;
  /** The policy is the greedy one, whose rules the promise stands on; without them nothing is promised. */
  promised: boolean;
  /** `queue.longestAnswer`: what the promise counts with until longer answers were seen. */
  longestAnswerMs: number;
  /** What is on the disk of a model; absent: nothing is known to be missing. */
  weights?: (model: string) => WeightsState;
}

/** The catalogue (contract section 5) of what is known now. */
export function catalogOf(identity: Identity, moment: Moment): AgentCatalog {
  const { view, rules, models, promises, now } = moment;
  const terms = termsOf(rules, longestOf(moment));
  const states = new Map(view.models.map((state) => [state.name, state]));
  const predicted = predictedWaits(view, rules, costsOf(moment));
  const waiting = moment.waiting.slice(0, MAX_WAITING_TOLD);
  const rests = moment.promised ? promises.rest(waiting, view, terms, now) : [];
  return {
    protocol: CATALOG_PROTOCOL,
    worker: identity.name,
    version: identity.version,
    draining: view.draining,
    models: models.map((model) => {
      const state = states.get(model.name);
      const figures = {
        predicted_wait_ms: rounded(predicted.get(model.name) ?? null),
        wait_bound_ms: rounded(state === undefined ? null : boundOf(state, moment, terms)),
      };
      return { ...catalogModel(model, state, moment), ...figures };
    }),
    queue: {
      depth: view.depth,
      swapping_to: view.swappingTo,
      waiting: waiting.map(({ requestId, model, position, waitedMs }, at) => ({
        id: requestId,
        model,
        position,
        waited_ms: Math.round(waitedMs),
        bound_ms: rounded(rests[at] ?? null),
      })),
    },
    memory: { budget_bytes: view.memoryBudget, used_bytes: view.memoryUsed },
  };
}

type ModelView = SchedulerView["models"][number];

function catalogModel(
  model: ServedModel,
  state: ModelView | undefined,
  moment: Moment,
): Omit<AgentCatalogModel, "predicted_wait_ms" | "wait_bound_ms"> {
  const { learned } = moment;
  const figures = learned.of(model.name);
  return {
    id: model.name,
    aliases: [...model.aliases],
    kind: model.kind ?? kindOfName(model.engineName),
    state: state?.state ?? "unknown",
    slots: { total: model.slots, busy: state?.running ?? 0 },
    queued: state?.queued ?? 0,
    oldest_wait_ms: rounded(state?.oldestWaitMs ?? null),
    load_ms: rounded(loadMs(model.name, moment)),
    tokens_per_second: figures.tokensPerSecond,
    context_length: figures.contextLength,
    memory_bytes: model.memoryBytes,
    engine: model.engine ?? figures.engine,
    apis: [...spokenOf(model, figures.engine)],
    quantization: model.quantization,
    digest: model.digest,
    pinned: model.pinned,
    prompt_tokens_per_second: figures.promptTokensPerSecond,
    service_ms: rounded(figures.serviceMs),
    temperature: state === undefined ? null : temperatureOf(state, moment),
  };
}

function temperatureOf({ name, state }: ModelView, { learned, weights, now }: Moment): Temperature {
  if (state === "warm") return "active";
  if (weights?.(name).absent === true) return "absent";
  return learned.isWarm(name, now) ? "warm" : "cold";
}

/** Of a load that begins now, with what must be fetched before it. */
function loadMs(model: string, { view, learned, weights, now }: Moment): number | null {
  const ms = learned.loadMs(model, loadedNow(view), now);
  const left = weights === undefined ? 0 : weights(model).leftMs;
  return ms === null || left === null ? null : left + ms;
}

/** By model, what a request that came now would be promised, in milliseconds; without those that promise nothing. */
export function waitBounds(moment: Moment): Map<string, number> {
  const terms = termsOf(moment.rules, longestOf(moment));
  const bounds = new Map<string, number>();
  for (const state of moment.view.models) {
    const ms = boundOf(state, moment, terms);
    if (ms !== null) bounds.set(state.name, ms);
  }
  return bounds;
}

/** The promise for a request that came now; null: it would be refused. */
function boundOf(state: ModelView, { view, promised }: Moment, terms: Terms): number | null {
  const model = terms.models.get(state.name);
  if (!promised) return null;
  if (model === undefined || view.draining || state.retryInMs !== null) return null;
  return promisedWait(model, { place: state.queued + 1, loaded: state.state === "warm" }, terms);
}

function costsOf(moment: Moment): ForecastCosts {
  return {
    serviceMs: (model) => moment.learned.of(model).serviceMs,
    loadMs: (model) => loadMs(model, moment),
  };
}

function longestOf({ models, learned, longestAnswerMs }: Moment): Longest {
  const timeouts = new Map(models.map(({ name, timeoutMs }) => [name, timeoutMs]));
  return {
    loadMs: (model) => learned.of(model).longestLoadMs ?? timeouts.get(model) ?? 0,
    answerMs: Math.max(longestAnswerMs, learned.longestAnswerMs),
  };
}

/** The model that a load would most likely follow. */
function loadedNow(view: SchedulerView): string | null {
  return view.loaded[0] ?? null;
}

/** `GET /health` (contract section 5). `uptimeMs`: since the agent started. */
export function healthOf(
  { version }: Identity,
  view: SchedulerView,
  learned: Learned,
  engines: readonly EngineStatus[],
  uptimeMs: number,
): object {
  const failed = view.models.some((model) => model.state === "failed");
  return {
    status: view.draining ? "draining" : failed ? "degraded" : "ok",
    version,
    model: loadedNow(view),
    queue_depth: view.depth,
    oldest_wait_ms: Math.round(view.oldestWaitMs),
    inflight: view.inflight,
    last_swap_ms: rounded(learned.lastSwapMs),
    swaps: view.swaps,
    uptime_s: Math.floor(uptimeMs / 1_000),
    engines,
  };
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}
