import { expect, test } from "vitest";
import { type Effect, EngineState } from "../../src/decide/engine-state.ts";
import { engineOptionsSchema } from "../../src/decide/options.ts";

const state = (options: object) => new EngineState(engineOptionsSchema.parse({ models: ["a", "b", "c"], ...options }));
const job = (id: string, model: string) => ({ id, model, prompt: "" });
const kinds = (effects: unknown) =>
  (effects as Effect[]).map((effect) => `${effect.kind} ${"job" in effect ? effect.job : effect.model}`);

test("requests that arrive during a load join it", () => {
  const engine = state({ slots: 2 });
  expect(kinds(engine.arrive(job("1", "a"), 0))).toEqual(["load a"]);
  expect(engine.arrive(job("2", "a"), 1)).toEqual([]);
  expect(engine.arrive(job("3", "a"), 2)).toEqual([]);
  expect(kinds(engine.loadEnded("a", true, 3))).toEqual(["start 1", "start 2"]);
  expect(engine.counts()).toEqual({ active: 2, queued: 1 });
  expect(kinds(engine.leave("1", "", 4))).toEqual(["start 3"]);
});

test("without autoload a cold model is refused", () => {
  const engine = state({ autoload: false });
  expect(engine.arrive(job("1", "a"), 0)).toMatchObject([{ kind: "refuse", error: { status: 400 } }]);
  expect(kinds(engine.arrive(job("2", "a"), 0, true))).toEqual(["load a"]);
});

test("a failed load refuses whoever waited and the next request tries again", () => {
  const engine = state({});
  engine.arrive(job("1", "a"), 0);
  const effects = engine.loadEnded("a", false, 1);
  expect(kinds(effects)).toEqual(["unloaded a", "refuse 1"]);
  expect(effects[1]).toMatchObject({ error: { status: 500, message: "model name=a failed to load" } });
  expect(engine.phase("a")).toEqual({ phase: "unloaded", failed: true });
  expect(kinds(engine.arrive(job("2", "a"), 2))).toEqual(["load a"]);
  engine.loadEnded("a", true, 3);
  expect(engine.phase("a")).toEqual({ phase: "loaded", failed: false });
});

test("over the limit the least recently used idle model leaves, though a busy one is older", () => {
  const engine = state({ maxLoaded: 2, models: [{ name: "a", loaded: true }, { name: "b", loaded: true }, "c"] });
  engine.arrive(job("1", "a"), 1);
  engine.arrive(job("2", "b"), 2);
  engine.leave("2", "", 3);
  expect(kinds(engine.arrive(job("3", "c"), 4))).toEqual(["unloaded b", "load c"]);
  expect(engine.loaded()).toEqual(["a"]);
});

test("a busy model ends what it serves before it leaves, and its queue waits for its next load", () => {
  const engine = state({ maxLoaded: 1, slots: 1, models: [{ name: "a", loaded: true }, "b"] });
  expect(kinds(engine.arrive(job("1", "a"), 1))).toEqual(["start 1"]);
  expect(engine.arrive(job("2", "a"), 2)).toEqual([]);
  expect(engine.arrive(job("3", "b"), 3)).toEqual([]);
  expect(engine.phase("a").phase).toBe("stopping");
  expect(kinds(engine.leave("1", "", 4))).toEqual(["unloaded a", "load b"]);
  expect(kinds(engine.loadEnded("b", true, 5))).toEqual(["start 3"]);
  expect(kinds(engine.leave("3", "", 6))).toEqual(["unloaded b", "load a"]);
  expect(kinds(engine.loadEnded("a", true, 7))).toEqual(["start 2"]);
});

test("nobody is left who wants a model: it is not loaded once there is room", () => {
  const engine = state({ maxLoaded: 1, models: [{ name: "a", loaded: true }, "b"] });
  engine.arrive(job("1", "a"), 1);
  engine.arrive(job("2", "b"), 2);
  expect(engine.leave("2", "", 3)).toEqual([]);
  expect(kinds(engine.leave("1", "", 4))).toEqual(["unloaded a"]);
});

test("load and unload by hand", () => {
  const engine = state({});
  expect(engine.unload("a")).toMatchObject({ status: 400 });
  expect(kinds(engine.load("a"))).toEqual(["load a"]);
  expect(engine.load("a")).toMatchObject({ status: 400, message: "model is already running" });
  engine.arrive(job("1", "a"), 1);
  expect(kinds(engine.unload("a"))).toEqual(["stop-load a", "unloaded a", "refuse 1"]);
  expect(engine.loadEnded("a", true, 2)).toEqual([]);
  engine.load("a");
  engine.loadEnded("a", true, 3);
  engine.arrive(job("2", "a"), 4);
  expect(engine.unload("a")).toEqual([]);
  expect(kinds(engine.leave("2", "", 5))).toEqual(["unloaded a"]);
});
