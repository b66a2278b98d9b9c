import type { ModelState } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Residency } from "../../src/attached/residency.ts";

const states = (told: Record<string, ModelState>) => new Map(Object.entries(told));

describe("what the agent takes for loaded on an attached engine", () => {
  it("finds what the engine has loaded, once", () => {
    const residency = new Residency();
    expect(residency.seen(residency.look(), states({ a: "warm", b: "cold" })).found).toEqual(["a"]);
    expect(residency.seen(residency.look(), states({ a: "warm", b: "cold" })).found).toEqual([]);
    expect(residency.loaded()).toEqual(["a"]);
  });

  it.each<[string, Record<string, ModelState>, string]>([
    ["unloaded", { a: "cold" }, "its engine has unloaded it"],
    ["failed", { a: "failed" }, "its engine has unloaded it"],
    ["loading again", { a: "loading" }, "its engine has unloaded it"],
    ["no longer listed", {}, "its engine does not list it any more"],
  ])("loses a model that is %s, once", (_, told, reason) => {
    const residency = new Residency();
    residency.told("a", true);
    expect(residency.seen(residency.look(), states(told)).lost).toEqual([{ model: "a", reason }]);
    expect(residency.seen(residency.look(), states(told)).lost).toEqual([]);
  });

  it("keeps a model that was loading when the agent came, until it is loaded or is not", () => {
    const residency = new Residency();
    residency.arriving("a");
    residency.arriving("b");
    expect(residency.seen(residency.look(), states({ a: "loading", b: "loading" }))).toEqual({ found: [], lost: [] });
    const reason = "its engine has unloaded it";
    const { found, lost } = residency.seen(residency.look(), states({ a: "warm", b: "failed" }));
    expect([found, lost]).toEqual([[], [{ model: "b", reason }]]);
    expect(residency.seen(residency.look(), states({ a: "loading" })).lost).toEqual([{ model: "a", reason }]);
  });

  it("keeps what it knows of a model whose state the engine does not know", () => {
    const residency = new Residency();
    residency.told("a", true);
    expect(residency.seen(residency.look(), states({ a: "unknown", b: "unknown" }))).toEqual({ found: [], lost: [] });
    expect(residency.isLoaded("a")).toBe(true);
    expect(residency.isLoaded("b")).toBe(false);
  });

  it("believes no look of a model that is being loaded or unloaded", () => {
    const residency = new Residency();
    residency.begin("a");
    expect(residency.seen(residency.look(), states({ a: "warm" })).found).toEqual([]);
    residency.end("a", true);
    residency.begin("a");
    expect(residency.seen(residency.look(), states({ a: "cold" })).lost).toEqual([]);
    residency.end("a", false);
    expect(residency.loaded()).toEqual([]);
  });

  it("believes no look that began before the load ended, and the next one again", () => {
    const residency = new Residency();
    const before = residency.look();
    residency.begin("a");
    const during = residency.look();
    residency.end("a", true);
    expect(residency.seen(before, states({ a: "cold" })).lost).toEqual([]);
    expect(residency.seen(during, states({ a: "cold" })).lost).toEqual([]);
    expect(residency.gone(during)).toEqual([]);
    expect(residency.seen(residency.look(), states({ a: "cold" })).lost).toHaveLength(1);
  });

  it("believes no look that is older than one that was taken in already", () => {
    const residency = new Residency();
    const first = residency.look();
    residency.begin("a");
    residency.end("a", false);
    residency.seen(residency.look(), states({ a: "cold" }));
    expect(residency.seen(first, states({ a: "warm" })).found).toEqual([]);
    residency.told("b", true);
    residency.seen(residency.look(), states({ b: "warm" }));
    expect(residency.gone(first)).toEqual([]);
  });

  it("lets a load that failed late be found later", () => {
    const residency = new Residency();
    residency.begin("a");
    residency.end("a", false);
    expect(residency.seen(residency.look(), states({ a: "warm" })).found).toEqual(["a"]);
  });

  it("loses everything with an engine that is gone, but nothing that is under way", () => {
    const residency = new Residency();
    for (const model of ["a", "b"]) residency.told(model, true);
    residency.begin("b");
    expect(residency.gone(residency.look()).map(({ model }) => model)).toEqual(["a"]);
    residency.end("b", null);
    expect(residency.loaded()).toEqual(["b"]);
  });
});

/** An engine's truth, looks that see it at one moment and are taken in at a later one, and loads that take time. */
describe("looks, loads, unloads and the engine's own will in any order", () => {
  const MODELS = ["a", "b", "c"] as const;
  const step = fc.record({
    what: fc.constantFrom("look", "taken in", "load begins", "unload begins", "ends", "evicts", "loads by itself"),
    model: fc.constantFrom(...MODELS),
    pick: fc.nat(5),
  });

  it("agree in the end, and tell no change that was none", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const residency = new Residency();
        const truth = new Set<string>();
        /** What a listener to news and results holds for loaded. */
        const told = new Set<string>();
        /** Whether a model was there, or was not, at any moment since the last order for it had ended. */
        const was = new Map(MODELS.map((model) => [model as string, { there: false, away: true }]));
        const be = (model: string, there: boolean) => {
          if (there) truth.add(model);
          else truth.delete(model);
          Object.assign(was.get(model) ?? {}, there ? { there } : { away: true });
        };
        const looks: { mark: number; saw: Map<string, ModelState> }[] = [];
        const orders: { model: string; loads: boolean }[] = [];
        const see = () => new Map(MODELS.map((model) => [model, truth.has(model) ? "warm" : "cold"] as const));
        const takeIn = (look: (typeof looks)[number]) => {
          const { found, lost } = residency.seen(look.mark, look.saw);
          for (const model of found) {
            expect(told.has(model), `${model} found twice`).toBe(false);
            expect(was.get(model)?.there, `${model} was never there since`).toBe(true);
            told.add(model);
          }
          for (const { model } of lost) {
            expect(told.has(model), `${model} lost twice`).toBe(true);
            expect(was.get(model)?.away, `${model} was there all the time since`).toBe(true);
            told.delete(model);
          }
        };
        const end = ({ model, loads }: (typeof orders)[number]) => {
          was.set(model, { there: false, away: false });
          be(model, loads);
          residency.end(model, loads);
          if (loads) told.add(model);
          else told.delete(model);
        };
        for (const { what, model, pick } of steps) {
          if (what === "look") looks.push({ mark: residency.look(), saw: see() });
          else if (what === "taken in") looks.splice(pick % Math.max(1, looks.length), 1).forEach(takeIn);
          else if (what === "load begins" || what === "unload begins") {
            residency.begin(model);
            orders.push({ model, loads: what === "load begins" });
          } else if (what === "ends") orders.splice(pick % Math.max(1, orders.length), 1).forEach(end);
          else be(model, what !== "evicts");
        }
        orders.forEach(end);
        takeIn({ mark: residency.look(), saw: see() });
        expect([...told].sort()).toEqual([...truth].sort());
        expect(residency.loaded().sort()).toEqual([...truth].sort());
      }),
      { numRuns: 2_000 },
    );
  });
});
