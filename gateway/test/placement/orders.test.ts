import type { ModelState } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { observed, type Order, type OrderBook, ordered, orderFailed, orderFor } from "../../src/placement/orders.ts";
import { catalogOf, type WorkerSketch } from "../routing/farm.ts";
import { machine, pending } from "./view.ts";

const WANTED = new Set(["m"]);

/** The pair's order after looks at these states of the model, one second apart. */
function after(
  states: readonly ModelState[],
  more: WorkerSketch = {},
  book: OrderBook = pending(["a:m"]),
): Order | null {
  let now = 1_000;
  for (const state of states) {
    now += 1_000;
    book = observed(book, catalogOf([machine("a", { m: state }, more)]), WANTED, now);
  }
  return orderFor(book, "a", "m") ?? null;
}

const failed = (reason: string) => ({ phase: "failed", reason: expect.stringContaining(reason) });

describe("a pending order", () => {
  it.each<[string, ModelState[], object]>([
    ["stays so while the model waits its turn and loads", ["cold", "loading", "loading"], { phase: "pending" }],
    ["is done once the model is warm", ["cold", "loading", "warm"], { phase: "held", failures: 0 }],
    ["has failed when the model is no longer on its way", ["loading", "cold"], failed("the load failed")],
    ["has failed when the worker says so", ["cold", "failed"], failed("the load failed")],
  ])("%s", (_, states, expected) => {
    expect(after(states)).toMatchObject(expected);
  });

  it("is not judged by a failure that was there before", () => {
    const book = ordered(new Map(), { worker: "a", key: "m", model: "m", wasFailed: true }, 1_000);
    expect(after(["failed", "failed"], {}, book)).toMatchObject({ phase: "pending" });
    expect(after(["failed", "loading", "failed"], {}, book)).toMatchObject(failed("the load failed"));
    expect(after(["failed", "cold", "failed"], {}, book)).toMatchObject(failed("the load failed"));
  });

  it("has failed when its worker is lost, and is forgotten when the worker drains or lists the model no more", () => {
    expect(after(["loading"], { health: "unhealthy" })).toMatchObject(failed("lost"));
    expect(after(["loading"], { refused: true })).toMatchObject(failed("lost"));
    expect(after(["loading"], { draining: true })).toBeNull();
    expect(after(["loading"], { models: [] })).toBeNull();
  });

  it("is given up after ten minutes", () => {
    const look = (now: number) => observed(pending(["a:m"]), catalogOf([machine("a", { m: "cold" })]), WANTED, now);
    expect(orderFor(look(600_999), "a", "m")?.phase).toBe("pending");
    expect(orderFor(look(601_000), "a", "m")).toMatchObject(failed("not loaded in time"));
  });

  it("is forgotten when the copies are no longer wanted, or the worker is gone from the configuration", () => {
    const warm = catalogOf([machine("a", { m: "cold" })]);
    expect(observed(pending(["a:m"]), warm, new Set(), 2_000).size).toBe(0);
    expect(observed(pending(["a:m"]), catalogOf([]), WANTED, 2_000).size).toBe(0);
  });
});

describe("the pause after failures", () => {
  it("doubles from ten seconds to ten minutes", () => {
    let book: OrderBook = new Map();
    const pauses: number[] = [];
    for (let i = 0; i < 9; i += 1) {
      book = ordered(book, { worker: "a", key: "m", model: "m", wasFailed: false }, 0);
      book = orderFailed(book, "a", "m", "it answered 503", 0);
      pauses.push((orderFor(book, "a", "m")?.retryAt ?? 0) / 1_000);
    }
    expect(pauses).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600]);
  });

  it("counts a copy that was taken out of memory soon, but not one whose worker was lost, nor one that stood", () => {
    expect(after(["warm", "warm", "cold"])).toMatchObject(failed("taken out of memory again"));
    const held = observed(pending(["a:m"]), catalogOf([machine("a", { m: "warm" })]), WANTED, 2_000);
    const lost = catalogOf([machine("a", { m: "cold" }, { health: "unhealthy" })]);
    expect(observed(held, lost, WANTED, 3_000).size).toBe(0);
    expect(observed(held, catalogOf([machine("a", { m: "warm" })]), WANTED, 602_000).size).toBe(0);
  });

  it("is forgotten long after it is over", () => {
    const book = orderFailed(pending(["a:m"]), "a", "m", "no", 1_000);
    const look = (now: number) => observed(book, catalogOf([machine("a", { m: "cold" })]), WANTED, now);
    expect(look(610_000)).toBe(book);
    expect(look(611_000).size).toBe(0);
  });
});
