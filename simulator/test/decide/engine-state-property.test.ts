import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Effect } from "../../src/decide/engine-state.ts";
import { EngineState } from "../../src/decide/engine-state.ts";
import { engineOptionsSchema } from "../../src/decide/options.ts";

const MODELS = ["a", "b", "c"] as const;

/** A doer that carries out what the state says, and writes down every broken promise. */
class Watched {
  readonly violations: string[] = [];
  readonly waiting = new Map<string, string>();
  readonly running = new Map<string, string>();
  readonly loading = new Set<string>();
  readonly #engine: EngineState;
  readonly #slots: number;
  readonly #maxLoaded: number;
  #now = 0;

  constructor(slots: number, maxLoaded: number) {
    this.#engine = new EngineState(engineOptionsSchema.parse({ models: MODELS, slots, maxLoaded }));
    this.#slots = slots;
    this.#maxLoaded = maxLoaded;
  }

  arrive(model: string): void {
    this.#now += 1;
    const id = String(this.#now);
    this.waiting.set(id, model);
    this.#carryOut(this.#engine.arrive({ id, model, prompt: "" }, this.#now));
  }

  leave(id: string): void {
    this.#now += 1;
    this.running.delete(id);
    this.waiting.delete(id);
    this.#carryOut(this.#engine.leave(id, "", this.#now));
  }

  endLoad(model: string, ok: boolean): void {
    this.#now += 1;
    this.loading.delete(model);
    this.#carryOut(this.#engine.loadEnded(model, ok, this.#now));
  }

  byHand(what: "load" | "unload", model: string): void {
    const outcome = this.#engine[what](model);
    if (Array.isArray(outcome)) this.#carryOut(outcome);
  }

  #carryOut(effects: Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === "load") this.loading.add(effect.model);
      else if (effect.kind === "stop-load") this.loading.delete(effect.model);
      else if (effect.kind === "unloaded") {
        this.#must(![...this.running.values()].includes(effect.model), `${effect.model} left under a running job`);
      } else this.#endWaiting(effect);
    }
    for (const model of MODELS) {
      const busy = [...this.running.values()].filter((one) => one === model).length;
      this.#must(busy <= this.#slots, `${busy} jobs in ${this.#slots} slots of ${model}`);
    }
    const inMemory = MODELS.filter((model) => this.#engine.phase(model).phase !== "unloaded").length;
    this.#must(this.#maxLoaded === 0 || inMemory <= this.#maxLoaded, `${inMemory} models in memory`);
    const { active, queued } = this.#engine.counts();
    this.#must(active === this.running.size && queued === this.waiting.size, "a job was lost or kept");
  }

  #endWaiting(effect: Extract<Effect, { job: string }>): void {
    const model = this.waiting.get(effect.job);
    this.#must(model !== undefined, `job ${effect.job} was started or refused twice`);
    this.waiting.delete(effect.job);
    if (effect.kind === "start") {
      this.running.set(effect.job, effect.model);
      this.#must(this.#engine.phase(effect.model).phase !== "unloaded", `job ${effect.job} started on a cold model`);
    }
  }

  #must(holds: boolean, otherwise: string): void {
    if (!holds) this.violations.push(otherwise);
  }
}

const action = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("arrive" as const), model: fc.constantFrom(...MODELS) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("leave" as const), pick: fc.nat(1_000) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("endLoad" as const), ok: fc.boolean(), pick: fc.nat(9) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("load" as const, "unload" as const),
      model: fc.constantFrom(...MODELS),
    }),
  },
);

test("whatever happens: slots and the limit hold, and every request starts or is refused, once", () => {
  const slots = fc.integer({ min: 1, max: 3 });
  const maxLoaded = fc.integer({ min: 0, max: 3 });
  fc.assert(
    fc.property(slots, maxLoaded, fc.array(action, { maxLength: 150 }), (slots, maxLoaded, script) => {
      const engine = new Watched(slots, maxLoaded);
      for (const step of script) {
        if (step.do === "arrive") engine.arrive(step.model);
        else if (step.do === "leave") {
          const all = [...engine.waiting.keys(), ...engine.running.keys()];
          if (all.length > 0) engine.leave(all[step.pick % all.length] ?? "");
        } else if (step.do === "endLoad") {
          const all = [...engine.loading];
          if (all.length > 0) engine.endLoad(all[step.pick % all.length] ?? "", step.ok);
        } else engine.byHand(step.do, step.model);
      }
      // From here on loads succeed and answers end: everybody must be served.
      for (let turns = 0; engine.waiting.size + engine.running.size + engine.loading.size > 0; turns += 1) {
        const [load] = engine.loading;
        const [job] = engine.running.keys();
        if (turns === 5_000 || (load === undefined && job === undefined)) break;
        if (load !== undefined) engine.endLoad(load, true);
        else engine.leave(job ?? "");
      }
      expect(engine.violations).toEqual([]);
      expect([...engine.waiting.keys()]).toEqual([]);
    }),
    { numRuns: 300 },
  );
});
