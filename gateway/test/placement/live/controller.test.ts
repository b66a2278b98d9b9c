import { catalogModel, catalogReport } from "@farmgate/engines";
import { soleRight } from "../sole-right.ts";
import { type ModelState, seededRandom } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import { describe, expect, it } from "vitest";
import { CatalogStore } from "../../../src/catalog/store.ts";
import { type ControllerDeps, PlacementController } from "../../../src/placement/live/controller.ts";
import { placementSettings } from "../../../src/placement/live/settings.ts";
import type { OrderDesk, OrderedPair } from "../../../src/placement/order-desk.ts";
import { NO_ORDERS } from "../../../src/placement/orders.ts";
import type { PoolAction } from "../../../src/placement/pools/types.ts";
import type { WantedCopies } from "../../../src/placement/wanted-copies.ts";
import { placementView } from "../../../src/routes/placement-view.ts";
import { workerConfig } from "../../catalog/farm.ts";
import { steppedClock } from "../../support/stepped-clock.ts";
import { viewOf } from "../view.ts";

const ANSWERED = {
  worker: "a",
  bytes: 400,
  inputMs: 100,
  outputMs: 500,
  onTime: true,
};

/** A controller of agents a and b, a has `m` loaded; its clock is moved by hand, its planner says what it is told to. */
function controllerOf(wanted: readonly WantedCopies[] = []) {
  const clock = steppedClock();
  const said: string[] = [];
  const note = (_: object, message: string) => void said.push(message);
  const log = { info: note, warn: note } as unknown as Log;
  const catalog = new CatalogStore(clock, { unhealthyAfter: 3, healthyAfter: 1 });
  catalog.apply({ type: "configured", workers: ["a", "b"].map((name) => workerConfig(name)) });
  const poll = (worker: string, state: ModelState) => {
    const report = catalogReport([catalogModel("m", state, { commands: ["load", "unload"] })], {
      memory: { budgetBytes: 0, usedBytes: 0 },
    });
    catalog.apply({ type: "polled", worker, startedAt: clock.now(), result: { kind: "ok", engine: "agent", report } });
  };
  const lose = (worker: string) =>
    catalog.apply({ type: "polled", worker, startedAt: clock.now(), result: { kind: "dead", reason: "no answer" } });
  poll("a", "warm");
  poll("b", "cold");
  const sent: string[] = [];
  const answers: { next: () => string | null } = { next: () => null };
  const desk = {
    book: NO_ORDERS,
    unloading: new Map(),
    failedUnloads: [],
    keepsAll: false,
    stopped: false,
    whyNoUnload: () => null,
    tell(what: string, pair: OrderedPair, ended: (failed: string | null) => void) {
      sent.push(`${what} ${pair.worker}:${pair.model}`);
      ended(answers.next());
    },
  } as unknown as OrderDesk;
  const base = viewOf([]);
  const keeper = { wanted, view: () => ({ ...base, catalog: catalog.current, now: clock.now() }) };
  const plans = { next: (): readonly PoolAction[] => [], made: 0 };
  const planner: ControllerDeps["planner"] = () => ({
    plan() {
      plans.made += 1;
      return { state: { pools: new Map(), plans: [] } as never, actions: plans.next(), reasons: [] };
    },
    poolOf: () => "stable",
  });
  const { inflight } = base;
  const random = seededRandom(1);
  const controller = new PlacementController({
    clock,
    log,
    catalog,
    inflight,
    keeper,
    desk,
    random,
    planner,
    count: () => {},
    right: soleRight,
  });
  const turn = (settings: unknown) => controller.configure(placementSettings.parse(settings));
  const request = () => {
    controller.asked("m", clock.now());
    controller.ended("m", ANSWERED, { prompt: 100, completion: 100 });
  };
  const shown = () => {
    const { session } = controller;
    const now = clock.now();
    return placementView(
      { session, catalog: catalog.current, orders: NO_ORDERS, unloads: [], now, ordersHere: null },
      () => true,
      true,
    );
  };
  return { controller, turn, request, after: clock.move, poll, lose, sent, said, plans, answers, shown };
}

const LOAD_B: PoolAction = { kind: "activate", model: "m", pool: "elastic", bins: ["b"], reason: "replica 2 of 2" };
const LOAD_A: PoolAction = { ...LOAD_B, bins: ["a"] };
const MOVE_TO_B: PoolAction = { kind: "move", replica: "a\nm", to: ["b"], reason: "they go together" };
const DROP_B: PoolAction = { kind: "release", replica: "b\nm", reason: "1 replica of m is enough" };

describe("placement: auto", () => {
  it("plans as seldom as the stable pool alone while nothing is asked", () => {
    const { turn, controller, request, after, plans } = controllerOf();
    controller.start();
    turn({ mode: "auto", window: "10s", stableEvery: "30s" });
    request();
    after(10_000);
    expect(plans.made).toBeGreaterThanOrEqual(19);
    after(2_000);
    const before = plans.made;
    after(60_000);
    expect(plans.made - before).toBe(2);
    request();
    after(5_000);
    expect(plans.made - before).toBe(12);
  });

  it("orders what is planned, twice a second while anything was asked, and not at all before", () => {
    const { controller, turn, request, after, sent, plans, shown } = controllerOf();
    turn("auto");
    controller.start();
    after(10_000);
    expect(plans.made).toBe(0);
    request();
    plans.next = () => [LOAD_B];
    after(500);
    expect([plans.made, sent]).toEqual([1, ["load b:m"]]);
    after(2_000);
    expect(plans.made).toBe(5);
    expect(shown()).toMatchObject({
      mode: "auto",
      trouble: null,
      models: [{ id: "m", replicas: 1, heat: expect.any(Number), on_time: { share: 1, requests: 1 } }],
      plan: { actions: [{ kind: "activate", model: "m", workers: ["b"], not: null }] },
    });
    after(600_000);
    const { made } = plans;
    after(10_000);
    expect(plans.made).toBe(made);
  });

  it("takes a copy out only after it was to go for the hold, and not under keepWarm", () => {
    const settings = { mode: "auto", hold: "5s" };
    const { controller, turn, request, after, poll, sent, plans } = controllerOf();
    poll("b", "warm");
    turn(settings);
    controller.start();
    request();
    plans.next = () => [DROP_B];
    after(5_000);
    expect(sent).toEqual([]);
    after(1_000);
    expect(sent[0]).toBe("unload b:m");

    const kept = controllerOf([{ key: "m", name: "m", copies: 2 }]);
    kept.poll("b", "warm");
    kept.turn(settings);
    kept.controller.start();
    kept.request();
    kept.plans.next = () => [DROP_B];
    kept.after(20_000);
    expect(kept.sent).toEqual([]);
  });

  it("says the first of hundreds of changes one by one, and how many more there are", () => {
    const { controller, turn, request, after, said, plans } = controllerOf();
    turn("auto");
    controller.start();
    request();
    const models = Array.from({ length: 300 }, (_, i) => `m${i}`);
    plans.next = () => models.map((model) => ({ ...LOAD_B, model }));
    after(2_000);
    expect(said.filter((line) => line.startsWith("placement is to"))).toHaveLength(10);
    expect(said).toContainEqual(expect.stringMatching(/^and 290 more/));
  });

  it("rests when its planner fails, says so once, and tries again later", () => {
    const { controller, turn, request, after, sent, said, plans, shown } = controllerOf();
    turn("auto");
    controller.start();
    request();
    plans.next = () => {
      throw new Error("no such bin");
    };
    after(29_000);
    expect(plans.made).toBe(1);
    expect(shown()).toMatchObject({ trouble: "it failed (no such bin)" });
    request();
    after(31_000);
    expect(said.filter((line) => line.includes("rests"))).toEqual([
      "placement rests and the farm goes on without it: it failed (no such bin)",
    ]);
    plans.next = () => [LOAD_B];
    after(31_000);
    expect([sent[0], said.includes("placement goes on")]).toEqual(["load b:m", true]);
  });

  it("leaves alone what the Oracle is plainly wrong about, until it fits again", () => {
    const { controller, turn, request, after, said, plans, sent } = controllerOf();
    turn("auto");
    controller.start();
    request();
    plans.next = () => [LOAD_B];
    const oracle = controller.session?.learning.oracle;
    if (oracle == null) throw new Error("there is no Oracle");
    let isWrong = true;
    oracle.plainlyWrong = () => isWrong;
    after(20_000);
    expect([plans.made, sent]).toEqual([0, []]);
    expect(said.filter((line) => line.includes("wrong"))).toHaveLength(2);
    isWrong = false;
    after(31_000);
    expect(sent[0]).toBe("load b:m");
  });

  it("moves only to a worker known to be as fast, by loading first, and holds nothing up for a move whose old copy went by itself", () => {
    const { controller, turn, request, after, poll, sent, plans } = controllerOf();
    turn("auto");
    controller.start();
    request();
    plans.next = () => [MOVE_TO_B];
    after(500);
    expect(sent).toEqual([]);
    controller.ended("m", { ...ANSWERED, worker: "b" }, { prompt: 100, completion: 100 });
    after(500);
    expect(sent).toEqual(["load b:m"]);
    poll("b", "warm");
    poll("a", "cold");
    plans.next = () => [LOAD_A];
    after(500);
    expect(sent).toEqual(["load b:m", "load a:m"]);
  });

  it("tells of an order that fails, and goes on", () => {
    const { controller, turn, request, after, sent, plans, answers, shown } = controllerOf();
    answers.next = () => "it failed (Error: no socket)";
    turn("auto");
    controller.start();
    request();
    plans.next = () => [LOAD_B];
    after(500);
    expect(shown()).toMatchObject({ done: [{ kind: "load", worker: "b", failed: "it failed (Error: no socket)" }] });
    after(500);
    expect(sent).toEqual(["load b:m", "load b:m"]);
  });

  it("plans without a worker that is lost", () => {
    const { controller, turn, request, after, poll, lose, plans } = controllerOf();
    poll("b", "warm");
    turn("auto");
    controller.start();
    request();
    after(500);
    expect(controller.session?.plan?.bins.bins.map(({ id }) => id)).toEqual(["a", "b"]);
    for (let i = 0; i < 3; i += 1) lose("b");
    after(500);
    expect(controller.session?.plan?.bins.bins.map(({ id }) => id)).toEqual(["a"]);
    expect(controller.session?.plan?.bins.replicas.map(({ id }) => id)).toEqual(["a\nm"]);
    expect(plans.made).toBe(2);
  });
});

describe("placement: advise", () => {
  it("orders nothing, and says what it would do once for each change", () => {
    const { controller, turn, request, after, sent, said, plans } = controllerOf();
    turn("advise");
    controller.start();
    request();
    plans.next = () => [LOAD_B];
    after(20_000);
    expect(sent).toEqual([]);
    expect(said).toEqual(["placement is on", "placement would activate m"]);
    plans.next = () => [];
    after(40_000);
    request();
    plans.next = () => [LOAD_B];
    after(1_000);
    expect(said).toHaveLength(3);
  });
});

describe("placement: off", () => {
  it("observes nothing and plans nothing, also after it was on", () => {
    const { controller, turn, request, after, sent, plans, shown } = controllerOf();
    turn("off");
    controller.start();
    request();
    after(10_000);
    turn("auto");
    request();
    turn("off");
    plans.next = () => [LOAD_B];
    after(10_000);
    expect([plans.made, sent, shown()]).toEqual([0, [], { mode: "off" }]);
  });
});
