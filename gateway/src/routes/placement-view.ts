import type { Catalog } from "../catalog/types.ts";
import type { SessionView } from "../placement/live/session.ts";
import type { Guarded } from "../placement/live/guard-actions.ts";
import type { FailedUnload } from "../placement/order-desk.ts";
import type { OrderBook } from "../placement/orders.ts";
import type { Prediction } from "../placement/oracle/types.ts";
import type { ShowsModel } from "./farm-views.ts";

export interface PlacementScene {
  /** null: placement is off. */
  session: SessionView | null;
  catalog: Catalog;
  orders: OrderBook;
  unloads: Iterable<FailedUnload>;
  now: number;
  /** Whether this gateway is the one that orders; null: there is no other. */
  ordersHere: boolean | null;
}

/**
 * `/farm/placement`: what is observed and expected of each model, what was planned and done, and what stands in the way.
 * The planner's own words name any model: they are for who sees all.
 */
export function placementView(
  { session, catalog, orders, unloads, now, ordersHere }: PlacementScene,
  shows: ShowsModel,
  all: boolean,
): object {
  const orderer = ordersHere === null ? {} : { orders_come_from: ordersHere ? "this gateway" : "another gateway" };
  if (session === null) return { mode: "off", ...orderer };
  const nameOf = (key: string) => catalog.union.get(key)?.id ?? key;
  const { settings, trouble, plan, acted, deeds } = session;
  const seen = (key: string) => shows(nameOf(key));
  const planned = acted?.guarded.filter(({ key }) => seen(key)) ?? [];
  return {
    mode: settings.mode,
    ...orderer,
    trouble,
    target_ms: settings.target,
    share: settings.share,
    models: (plan?.models ?? []).flatMap(({ id }) => (seen(id) ? [modelView(session, id, nameOf(id), now)] : [])),
    plan:
      acted === null || planned.length === 0
        ? null
        : { age_ms: Math.round(now - acted.at), actions: planned.map((guarded) => actionView(guarded, nameOf)) },
    reasons: all ? (plan?.reasons ?? []) : [],
    done: deeds.last
      .filter(({ model }) => shows(model))
      .map(({ at, kind, worker, model, failed }) => ({ age_ms: Math.round(now - at), kind, worker, model, failed })),
    failing: [...failingOrders(orders), ...[...unloads].map((failed) => ({ kind: "unload", ...failed }))]
      .filter(({ model, retryAt }) => retryAt > now && shows(model))
      .map(({ kind, worker, model, reason, retryAt }) => ({
        kind,
        worker,
        model,
        reason,
        retry_in_ms: Math.round(retryAt - now),
      })),
    left_alone: [...(plan?.bins.leftAlone ?? [])].map(([worker, reason]) => ({ worker, reason })),
  };
}

function failingOrders(orders: OrderBook) {
  return [...orders.values()].flatMap((order) => (order.phase === "failed" ? [{ kind: "load", ...order }] : []));
}

function modelView({ seen, plan, learning, planner }: SessionView, key: string, id: string, now: number): object {
  const figures = seen.of(key);
  const replicas = (plan?.bins.replicas ?? []).filter(({ model }) => model === key);
  const fixed = plan?.bins.fixed.get(key) ?? 0;
  const { oracle } = learning;
  const active = replicas.filter(({ state }) => state === "active").length;
  const load = figures?.loadOfLate(now);
  const onTime = figures?.onTime(now) ?? null;
  const expected = oracle === null || load === undefined ? null : oracle.capacity.predict(key, load);
  return {
    id,
    pool: planner.poolOf(key),
    replicas: active,
    starting: replicas.filter(({ state }) => state === "starting").length,
    fixed,
    requests_per_second: round(load?.requestsPerSecond ?? 0),
    input_mean: round(load?.inputMean ?? 0),
    output_mean: round(load?.outputMean ?? 0),
    heat: round(figures?.heat(now) ?? 0),
    on_time: onTime === null ? null : { share: round(onTime.share), requests: onTime.requests },
    expected: expected && {
      on_time:
        oracle === null || load === undefined || active + fixed === 0
          ? null
          : told(oracle.elasticity.predict(key, load, active + fixed)),
      memory: told(expected.memory),
      compute: told(expected.compute),
      bandwidth: told(expected.bandwidth),
    },
    /** Measurements that this stands on. */
    points: { capacity: oracle?.capacity.points(key) ?? 0, elasticity: oracle?.elasticity.points(key) ?? 0 },
    wrong: oracle?.plainlyWrong(key) ?? false,
  };
}

function actionView({ action, key, workers, ...rest }: Guarded, nameOf: (key: string) => string): object {
  const not = rest.order === "none" ? rest.why : null;
  return { kind: action.kind, model: nameOf(key), workers, reason: action.reason, not };
}

function told({ mean, variance }: Prediction): object {
  return { mean: round(mean), deviation: round(Math.sqrt(Math.max(0, variance))) };
}

/** Four digits say more than is known. */
function round(value: number): number {
  return Number(value.toPrecision(4));
}
