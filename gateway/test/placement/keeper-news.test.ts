import { catalogModel, catalogReport } from "@farmgate/engines";
import type { ModelState } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import { describe, expect, it } from "vitest";
import { CatalogStore } from "../../src/catalog/store.ts";
import { Keeper } from "../../src/placement/keeper.ts";
import { LastCopies } from "../../src/placement/last-copies.ts";
import { OrderDesk } from "../../src/placement/order-desk.ts";
import { RecentUse } from "../../src/placement/recent-use.ts";
import { Inflight } from "../../src/state/inflight.ts";
import { workerConfig } from "../catalog/farm.ts";
import { steppedClock } from "../support/stepped-clock.ts";
import { soleRight } from "./sole-right.ts";

/** A keeper of workers a and b, on a clock that is moved by hand, and what it logs. */
function keeperOf() {
  const clock = steppedClock();
  const said: string[] = [];
  const note = (level: string) => (_: object, message: string) => void said.push(`${level}: ${message}`);
  const log = { info: note("info"), warn: note("warn") } as unknown as Log;
  const upstreams = {
    fresh: () => {
      throw new Error("nothing is to be ordered here");
    },
  };
  const catalog = new CatalogStore(clock, { unhealthyAfter: 3, healthyAfter: 1 });
  const recentUse = new RecentUse();
  const lastCopies = new LastCopies(recentUse);
  const desk = new OrderDesk({ clock, log, catalog, upstreams, right: soleRight });
  const keeper = new Keeper({
    clock,
    log,
    catalog,
    desk,
    inflight: new Inflight(),
    recentUse,
    lastCopies,
    right: soleRight,
  });
  catalog.apply({ type: "configured", workers: ["a", "b"].map((name) => workerConfig(name)) });
  /** The models' states on both, and what is said in so much time. */
  const after = (seconds: number, states: readonly [ModelState, ModelState]): string[] => {
    for (const [i, worker] of ["a", "b"].entries()) {
      const report = catalogReport([catalogModel("m", states[i] ?? "cold")]);
      catalog.apply({
        type: "polled",
        worker,
        startedAt: clock.now(),
        result: { kind: "ok", engine: "agent", report },
      });
    }
    clock.move(seconds * 1_000);
    return said.splice(0);
  };
  return { keeper, recentUse, after };
}

const ALONE = "warn: m: in use and warm on a alone, though 2 workers have it";

describe("what is said of a model in use", () => {
  it("is said once when one warm copy is left, and once when there are two again", () => {
    const { keeper, recentUse, after } = keeperOf();
    recentUse.asked("m", 0);
    keeper.start();
    expect(after(10, ["warm", "warm"])).toEqual([]);
    expect(after(60, ["warm", "cold"])).toEqual([ALONE]);
    expect(after(60, ["warm", "cold"])).toEqual([]);
    expect(after(10, ["warm", "warm"])).toEqual(["info: m: no copy is missing any more (2 warm)"]);
    expect(after(10, ["warm", "cold"])).toEqual([ALONE]);
  });

  it("is taken back when it is no longer in use, but not when the last copy goes too", () => {
    const { keeper, recentUse, after } = keeperOf();
    recentUse.asked("m", 0);
    keeper.start();
    expect(after(10, ["warm", "cold"])).toEqual([ALONE]);
    expect(after(10, ["cold", "cold"])).toEqual([]);
    expect(after(10, ["warm", "cold"])).toEqual([]);
    expect(after(900, ["warm", "cold"])).toEqual(["info: m: no copy is missing any more (1 warm)"]);
  });

  it("is nothing before the first catalogues, nor after the end", () => {
    const { keeper, recentUse, after } = keeperOf();
    recentUse.asked("m", 0);
    expect(after(10, ["warm", "cold"])).toEqual([]);
    keeper.stop();
    keeper.start();
    expect(after(10, ["warm", "cold"])).toEqual([]);
  });
});

it("says once that wanted copies cannot be had, and once when the owner wants them no more", () => {
  const { keeper, after } = keeperOf();
  keeper.configure([{ key: "m", name: "m", copies: 3 }]);
  keeper.start();
  expect(after(60, ["warm", "warm"])).toEqual(["warn: m: 2 of 3 warm copies: 2 workers list it"]);
  keeper.configure([{ key: "m", name: "m", copies: 2 }]);
  expect(after(60, ["warm", "warm"])).toEqual(["info: m: no copy is missing any more (2 warm)"]);
});
