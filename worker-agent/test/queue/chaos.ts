import * as fc from "fast-check";
import { collate } from "../../src/queue/collate.ts";
import { fifo } from "../../src/queue/fifo.ts";
import { greedy } from "../../src/queue/greedy.ts";
import type { ModelRules } from "../../src/queue/types.ts";
import { modelRules, rulesFor, type Arrival, type Workload } from "./workload.ts";

const NAMES = ["a", "b", "c", "d", "e"];
const BUDGET = 12;

const name = fc.constantFrom(...NAMES);

const arrival = fc.record({
  at: fc.nat(4_000),
  model: name,
  caller: fc.constantFrom("", "x"),
  priority: fc.constantFrom("interactive" as const, "batch" as const),
  kind: fc.constantFrom("request" as const, "request" as const, "request" as const, "load" as const),
  answerMs: fc.nat(400),
  patience: fc.option(fc.nat(1_500), { freq: 2 }),
  deadline: fc.option(fc.integer({ min: -50, max: 1_500 }), { freq: 2 }),
});

const traits = fc.record({
  slots: fc.integer({ min: 1, max: 3 }),
  memory: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: BUDGET + 2 }), fc.integer({ min: 1, max: 6 })),
  pinned: fc.constantFrom(false, false, false, false, true),
  ttl: fc.constantFrom(0, 0, 70, 900),
  preload: fc.constantFrom(false, false, true),
  restart: fc.constantFrom(false, false, true),
  unloads: fc.constantFrom(true, true, true, false),
});

const happening = fc.record({ at: fc.nat(5_000), model: name });

/** Each model as `traits` say, without those in `missing`. */
const listOf = (all: readonly Partial<ModelRules>[], missing: readonly string[] = []) =>
  NAMES.map((model, index) => modelRules(model, all[index])).filter((model) => !missing.includes(model.name));

/**
 * Anything may happen to models that fit together or do not, but no two things at the very same time (hence the
 * fractions of a millisecond): which of two such events comes first is nobody's promise.
 */
export const togetherChaos = fc
  .record({
    budget: fc.constantFrom(0, BUDGET, BUDGET),
    policy: fc.constantFrom(greedy, greedy, greedy, fifo, collate),
    all: fc.tuple(...NAMES.map(() => traits)),
    loads: fc.tuple(...NAMES.map(() => fc.integer({ min: 1, max: 800 }))),
    found: fc.uniqueArray(name, { maxLength: 2 }),
    arrivals: fc.array(arrival, { maxLength: 60 }),
    failing: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
    stands: fc.boolean(),
    unloads: fc.array(fc.constantFrom(null, null, "still" as const, "gone" as const), { minLength: 1, maxLength: 4 }),
    lost: fc.array(happening, { maxLength: 6 }),
    comesBy: fc.array(happening, { maxLength: 4 }),
    orders: fc.array(happening, { maxLength: 4 }),
    lists: fc.array(fc.record({ at: fc.nat(5_000), missing: fc.uniqueArray(name, { maxLength: 3 }) }), {
      maxLength: 3,
    }),
    rules: fc.record({
      maxBatch: fc.constantFrom(1, 2, 5, 64),
      maxWait: fc.constantFrom(0, 50, 300, 2_000),
      minResident: fc.constantFrom(0, 0, 200.000_1),
      gather: fc.constantFrom(0, 0, 20.000_01),
      maxDepth: fc.constantFrom(3, 1_000, 1_000),
      failureLimit: fc.constantFrom(1, 2, 3),
      failureReset: fc.constantFrom(0, 100, 5_000),
    }),
    tickLateMs: fc.constantFrom(0, 0, 1, 250),
  })
  .map(
    ({
      budget,
      policy,
      all,
      loads,
      found,
      arrivals,
      failing,
      stands,
      unloads,
      lost,
      comesBy,
      orders,
      lists,
      ...rest
    }) => {
      const index = (model: string) => NAMES.indexOf(model);
      const odd = <T extends { at: number }>(list: readonly T[], part: number) =>
        list.map((one, place) => ({ ...one, at: one.at + place / 1_000 + part }));
      const work: Workload = {
        rules: rulesFor({}, { ...rest.rules, budget, models: listOf(all) }),
        policy,
        found,
        startAt: 0.000_9,
        tickLateMs: rest.tickLateMs,
        loadMs: (model) => (loads[index(model)] ?? 1) + 0.000_07,
        fails: (model, attempt) => failing[(index(model) + attempt) % failing.length] ?? false,
        still: (victims) => (stands ? victims.slice(1) : []),
        unloadMs: 30.000_03,
        unloadFails: (_model, attempt) => unloads[attempt % unloads.length] ?? null,
        lostAt: odd(lost, 0.000_11),
        foundAt: odd(comesBy, 0.000_13),
        unloadAt: odd(orders, 0.000_17),
        lists: odd(lists, 0.000_19).map(({ at, missing }) => ({ at, models: listOf(all, missing) })),
        arrivals: arrivals.map(({ patience, deadline, at: whole, ...more }, place): Arrival => {
          const at = whole + place / 1_000;
          return {
            ...more,
            at,
            id: String(place),
            deadlineAt: deadline === null ? null : at + deadline + 0.000_3,
            ...(patience === null ? {} : { leaveAt: at + patience + 0.000_5 }),
          };
        }),
      };
      return work;
    },
  );
