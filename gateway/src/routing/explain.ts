import type { Api } from "@farmgate/shared";
import { dropsWords } from "./candidate.ts";
import { choose } from "./choose.ts";
import { droppedBy } from "./dropped-copy.ts";
import { describeStanding, standingOf } from "./standing.ts";
import type { Decision, RoutingContext, RoutingRequest, RoutingSet, Warmth, Weighed } from "./types.ts";
import { apiFor } from "./ways.ts";

/** One worker that could serve the model, at its place. */
interface RankedWorker {
  worker: string;
  set: RoutingSet;
  warmth: Warmth;
  reason: string;
  /** Requests that are there now, for any model. */
  inflight: number;
  upstreamModel: string;
  /** As what it would be asked. */
  api: Api;
  /** Its copy, where the copies of the model differ. */
  variant?: { digest: string | null; quantization: string | null; context_length: number | null };
}

type ExplainedDecision =
  | { kind: "send"; worker: string }
  | { kind: "wait"; set: RoutingSet }
  | { kind: "none"; code: "model_not_found" | "no_worker"; message: string };

/** What `farmgate explain` and a dry run print. */
export interface Explanation {
  model: string;
  key: string;
  /** What would happen to a request that came now. */
  decision: ExplainedDecision;
  /** What waiting here and loading there would cost it; null: there was nothing to weigh. */
  weighed: Weighed | null;
  /** In the order in which they would be tried. */
  ranked: readonly RankedWorker[];
  out: readonly { worker: string; reason: string }[];
}

/** The whole ranking for a request, by the very `choose` that routes: each step takes the worker before as tried. */
export function explain(request: RoutingRequest, context: RoutingContext): Explanation {
  const tried = new Set<string>();
  const ranked: RankedWorker[] = [];
  const first = choose(request, context, tried);
  for (let decision = first; decision.kind !== "none"; decision = choose(request, context, tried)) {
    const next =
      decision.kind === "send"
        ? [chosen(decision, ranked.at(-1), request, context)]
        : atTheirCap(decision.set, request, context, tried);
    for (const worker of next) {
      ranked.push(worker);
      tried.add(worker.worker);
    }
  }
  const out = context.catalog.workers
    .filter((entry) => !tried.has(entry.config.name))
    .map((entry) => ({
      worker: entry.config.name,
      reason: describeStanding(standingOf(entry, request, context), entry, request, context.now),
    }));
  return {
    model: request.name,
    key: request.key,
    decision: toExplained(first),
    weighed: weighedBy(first),
    ranked,
    out,
  };
}

/** `choose` compares it with what is left; beside the worker `before` it in its set, it is the next one. */
function chosen(
  { choice }: Extract<Decision, { kind: "send" }>,
  before: RankedWorker | undefined,
  request: RoutingRequest,
  context: RoutingContext,
): RankedWorker {
  const { worker: entry, set, warmth, upstreamModel, api } = choice;
  const { name } = entry.config;
  const standing = standingOf(entry, request, context);
  const refused = entry.refused ? ", as it refused the last connection" : "";
  const drops = droppedBy(entry, choice.model, standing, context);
  const late = drops === null ? refused : `${refused}, as ${dropsWords(drops)}`;
  const words = describeStanding(standing, entry, request, context.now);
  const reason = before?.set === set ? `${words}; next after ${before.worker}${late}` : choice.reason;
  const inflight = context.inflight.worker(name);
  return { worker: name, set, warmth, reason, inflight, upstreamModel, api, ...variantAt(name, request, context) };
}

/** The workers that the request would wait for; never empty after a `wait` for that set. */
function atTheirCap(
  set: RoutingSet,
  request: RoutingRequest,
  context: RoutingContext,
  tried: ReadonlySet<string>,
): RankedWorker[] {
  const ranked: RankedWorker[] = [];
  for (const entry of context.catalog.workers) {
    const { name, maxConcurrent } = entry.config;
    if (tried.has(name)) continue;
    const standing = standingOf(entry, request, context);
    if (standing.set !== set) continue;
    ranked.push({
      worker: name,
      set,
      warmth: standing.warmth,
      reason: `${describeStanding(standing, entry, request, context.now)}; at its cap of ${maxConcurrent}: a request would wait`,
      inflight: context.inflight.worker(name),
      upstreamModel: entry.byKey.get(request.key)?.id ?? request.name,
      api: apiFor(entry, request, context.now),
      ...variantAt(name, request, context),
    });
  }
  return ranked;
}

function variantAt(
  worker: string,
  { key }: RoutingRequest,
  { catalog }: RoutingContext,
): Pick<RankedWorker, "variant"> {
  const variant = catalog.union.get(key)?.variants?.find((one) => one.worker === worker);
  if (variant === undefined) return {};
  const { digest, quantization, contextLength } = variant;
  return { variant: { digest, quantization, context_length: contextLength } };
}

function toExplained(decision: Decision): ExplainedDecision {
  switch (decision.kind) {
    case "send":
      return { kind: "send", worker: decision.choice.worker.config.name };
    case "wait":
      return { kind: "wait", set: decision.set };
    case "none":
      return decision;
  }
}

function weighedBy(decision: Decision): Weighed | null {
  if (decision.kind === "none") return null;
  return (decision.kind === "send" ? decision.choice.weighed : decision.weighed) ?? null;
}
