import fc from "fast-check";
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

const MODELS = ["a", "b", "c"] as const;
const action = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("arrive" as const), model: fc.constantFrom(...MODELS) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("leave" as const), pick: fc.nat(1_000) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("loadEnded" as const), ok: fc.boolean(), pick: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("load", "unload"), model: fc.constantFrom(...MODELS) }) },
);

test("whatever happens: slots and the limit hold, and every request starts or is refused once", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 0, max: 3 }),
      fc.array(action, { maxLength: 150 }),
      (slots, maxLoaded, script) => {
        const engine = state({ slots, maxLoaded });
        const waiting = new Map<string, string>();
        const running = new Map<string, string>();
        const loading = new Set<string>();
        let now = 0;
        const carryOut = (effects: unknown) => {
          if (!Array.isArray(effects)) return;
          for (const effect of effects as Effect[]) {
            if (effect.kind === "load") loading.add(effect.model);
            else if (effect.kind === "stop-load") loading.delete(effect.model);
            else if (effect.kind === "unloaded") expect([...running.values()]).not.toContain(effect.model);
            else {
              expect(waiting.has(effect.job)).toBe(true);
              if (effect.kind === "start") running.set(effect.job, waiting.get(effect.job) ?? "");
              waiting.delete(effect.job);
            }
          }
          for (const model of MODELS) {
            expect([...running.values()].filter((one) => one === model).length).toBeLessThanOrEqual(slots);
          }
          const inMemory = MODELS.filter((model) => engine.phase(model).phase !== "unloaded").length;
          if (maxLoaded > 0) expect(inMemory).toBeLessThanOrEqual(maxLoaded);
          expect(engine.counts()).toEqual({ active: running.size, queued: waiting.size });
        };
        const leave = (id: string) => {
          running.delete(id);
          waiting.delete(id);
          carryOut(engine.leave(id, "", now));
        };
        const endLoad = (model: string, ok: boolean) => {
          loading.delete(model);
          carryOut(engine.loadEnded(model, ok, now));
        };
        for (const step of script) {
          now += 1;
          if (step.do === "arrive") {
            waiting.set(String(now), step.model);
            carryOut(engine.arrive(job(String(now), step.model), now));
          } else if (step.do === "leave") {
            const all = [...waiting.keys(), ...running.keys()];
            if (all.length > 0) leave(all[step.pick % all.length] ?? "");
          } else if (step.do === "loadEnded") {
            const all = [...loading];
            if (all.length > 0) endLoad(all[step.pick % all.length] ?? "", step.ok);
          } else carryOut(step.do === "load" ? engine.load(step.model) : engine.unload(step.model));
        }
        // In the end everybody is served: loads succeed, answers end.
        for (let i = 0; waiting.size + running.size + loading.size > 0; i += 1) {
          expect(i).toBeLessThan(5_000);
          now += 1;
          const [load] = loading;
          const [id] = running.keys();
          expect(load ?? id).toBeDefined();
          if (load !== undefined) endLoad(load, true);
          else leave(id ?? "");
        }
      },
    ),
  );
});
