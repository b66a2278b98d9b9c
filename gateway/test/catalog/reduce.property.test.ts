import { nameKey } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { catalogModel } from "@farmgate/engines";
import { emptyCatalog, reduce } from "../../src/catalog/reduce.ts";
import type { TrackedCatalog } from "../../src/catalog/tracked.ts";
import type { Catalog, CatalogEvent, UnionModel, WorkerConfig, WorkerEntry } from "../../src/catalog/types.ts";
import { report, workerConfig } from "./farm.ts";

const SETTINGS = { unhealthyAfter: 3, healthyAfter: 1 };
const WORKERS = ["a", "b", "c"];
const NAMES = ["m", "M:latest", "m:8b", "n", "N", "library/n", "alias", "__proto__"];

const worker = fc.constantFrom(...WORKERS, "nobody");
const name = fc.constantFrom(...NAMES);
const model = fc
  .record({
    id: name,
    aliases: fc.uniqueArray(name, { maxLength: 2 }),
    state: fc.constantFrom("warm", "loading", "cold", "failed", "unknown"),
    contextLength: fc.constantFrom(null, 4_096, 8_192),
    digest: fc.constantFrom(null, null, "d1", "sha256:D1", "d2"),
    quantization: fc.constantFrom(null, "Q4_K_M", "q4_k_m", "Q8_0"),
    kind: fc.constantFrom("chat", "vision"),
    queued: fc.nat(2),
  })
  .map(({ id, state, ...more }) => catalogModel(id, state, more));
const catalogue = fc.record({
  models: fc.array(model, { maxLength: 4 }),
  draining: fc.boolean(),
});
const result = fc.oneof(
  {
    weight: 4,
    arbitrary: catalogue.map((told) => ({ kind: "ok", engine: "agent", report: report(told.models, told) })),
  },
  fc.constant({ kind: "loading", engine: "llama-server" }),
  fc.constant({ kind: "no_catalog", engine: null, reason: "500" }),
  fc.constant({ kind: "unauthorized", engine: null, reason: "401" }),
  { weight: 3, arbitrary: fc.constant({ kind: "dead", reason: "silent" }) },
  { weight: 3, arbitrary: fc.constant({ kind: "refused", reason: "refused" }) },
);
const config = fc
  .record({
    name: fc.constantFrom(...WORKERS),
    url: fc.constantFrom("http://x.test", "http://y.test"),
    models: fc.constantFrom({ allow: ["*"], deny: [] }, { allow: ["m*", "alias"], deny: ["*:8b"] }),
    engine: fc.constantFrom("auto", "agent", "mlx"),
  })
  .map(({ name: called, ...more }) => workerConfig(called, more as Partial<WorkerConfig>));

/** An event and how long after the last one it comes; polls were started up to 3 s before. */
const step = fc.record({
  after: fc.nat(40_000),
  ago: fc.nat(3_000),
  event: fc.oneof(
    { weight: 8, arbitrary: fc.record({ type: fc.constant("polled"), worker, result }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constantFrom("answered", "load_failed"), worker, model: name }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant("disowned"), worker, model: name, reason: name }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constantFrom("refused", "drain", "resume"), worker }) },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant("configured"),
        workers: fc.uniqueArray(config, { selector: (one) => one.name, maxLength: 3 }),
      }),
    },
  ),
});
type Step = { after: number; ago: number; event: object };

/** Runs the steps from three workers on, calling `look` after each. */
function run(
  steps: readonly Step[],
  look: (catalog: TrackedCatalog, before: TrackedCatalog, event: CatalogEvent) => void,
) {
  let now = 0;
  const workers = WORKERS.map((one) => workerConfig(one));
  let catalog = reduce(emptyCatalog(), { type: "configured", workers }, now, SETTINGS);
  for (const { after, ago, event } of steps) {
    now += after;
    const full = { ...event, startedAt: now - ago, at: now - ago } as unknown as CatalogEvent;
    const before = catalog;
    catalog = reduce(catalog, full, now, SETTINGS);
    look(catalog, before, full);
  }
}

/** All names of all workers, in use or not, with the model that each is there. */
function allNames(workers: readonly WorkerEntry[]) {
  return workers.flatMap((one) => {
    const models = new Map([...one.byAlias, ...one.byKey]);
    const isOut = one.health === "unhealthy" || one.health === "misconfigured";
    return [...models].map(([key, listing]) => ({
      key,
      listing,
      worker: one,
      own: nameKey(listing.id) === key,
      isOut,
    }));
  });
}

/** What aliases stand for, by the definition: by alias, the keys of the models. */
function bruteForceAliases(workers: readonly WorkerEntry[]): Map<string, string[]> {
  const names = allNames(workers);
  const own = new Set(names.filter((one) => one.own).map(({ key }) => key));
  const aliases = new Map<string, string[]>();
  for (const { key, listing } of names) {
    if (own.has(key)) continue;
    aliases.set(key, [...new Set([...(aliases.get(key) ?? []), nameKey(listing.id)])]);
  }
  return aliases;
}

/** The union by its definition, from nothing. */
function bruteForce(workers: readonly WorkerEntry[]): Map<string, UnionModel> {
  const listed = allNames(workers).filter((one) => one.own && !one.isOut);
  const union = new Map<string, UnionModel>();
  for (const key of new Set(listed.map((one) => one.key))) {
    const all = listed.filter((one) => one.key === key);
    const own = all.map((one) => one.listing.id.replace(/:latest$/i, ""));
    const most = Math.max(...own.map((id) => own.filter((other) => other === id).length));
    const copies = all.map(({ worker: { config }, listing: { digest, quantization, contextLength } }) => {
      return { worker: config.name, digest, quantization, contextLength };
    });
    const different = (values: (string | number | null)[]) =>
      new Set(
        values.flatMap((value) =>
          value === null
            ? []
            : String(value)
                .toLowerCase()
                .replace(/^sha256:/, ""),
        ),
      ).size > 1;
    const differ =
      different(copies.map(({ digest }) => digest)) ||
      different(copies.map(({ quantization }) => quantization)) ||
      different(copies.map(({ contextLength }) => contextLength));
    union.set(key, {
      id: own.find((id) => own.filter((other) => other === id).length === most) ?? "",
      key,
      kind: all.some((one) => one.listing.kind === "vision") ? "vision" : "chat",
      contextLength: all.reduce<number | null>((least, { listing: { contextLength } }) => {
        if (contextLength === null) return least;
        return least === null ? contextLength : Math.min(least, contextLength);
      }, null),
      workers: all.map((one) => one.worker.config.name),
      warm: all
        .filter((one) => one.listing.state === "warm" && one.worker.catalog !== "unreachable")
        .map((one) => one.worker.config.name),
      variants: differ ? copies : null,
    });
  }
  for (const [key, targets] of bruteForceAliases(workers)) {
    const target = union.get(targets[0] ?? "");
    if (targets.length === 1 && target !== undefined) union.set(key, target);
  }
  return union;
}

const sorted = <T>(map: ReadonlyMap<string, T>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

describe("whatever happens to a farm", () => {
  it("keeps the union what its definition says", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        run(steps, (catalog) => expect(sorted(catalog.union)).toEqual(sorted(bruteForce(catalog.workers))));
      }),
      { numRuns: 300 },
    );
  });

  it("keeps what aliases stand for, whoever is away", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        run(steps, ({ aliases, workers }) => {
          const told = new Map([...aliases].map(([key, targets]) => [key, targets.map((target) => target.key)]));
          expect(sorted(told)).toEqual(sorted(bruteForceAliases(workers)));
        });
      }),
      { numRuns: 300 },
    );
  });

  it("tells every change that a reader can see by its version", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        run(steps, (catalog, before) => {
          const same = JSON.stringify(visible(catalog)) === JSON.stringify(visible(before));
          expect([before.version, before.version + 1]).toContain(catalog.version);
          expect(same || catalog.version > before.version).toBe(true);
          expect(catalog.union === before.union || catalog.version > before.version).toBe(true);
        });
      }),
      { numRuns: 300 },
    );
  });

  it("forgets no name that was listed once", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        run(steps, (catalog, before) => {
          for (const key of [...before.everListed, ...catalog.union.keys()]) expect(catalog.everListed).toContain(key);
        });
      }),
      { numRuns: 100 },
    );
  });

  it("has a worker out after three misses in a row without a sign of life, and in after any answer", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const misses = new Map<string, number>();
        run(steps, (catalog, before, event) => {
          // An answer makes up for one missed poll at most.
          if (event.type === "configured") misses.clear();
          if (event.type === "answered") misses.set(event.worker, -1);
          if (event.type !== "polled" || catalog === before) return;
          const missed = event.result.kind === "dead" || event.result.kind === "refused";
          const inRow = missed ? (misses.get(event.worker) ?? 0) + 1 : 0;
          misses.set(event.worker, inRow);
          const health = catalog.workers.find((one) => one.config.name === event.worker)?.health ?? "unknown";
          const alive = event.result.kind === "unauthorized" ? "misconfigured" : "healthy";
          const possible = inRow >= 3 ? ["unhealthy"] : ["unknown", "healthy", "misconfigured", "unhealthy"];
          expect(missed ? possible : [alive]).toContain(health);
        });
      }),
      { numRuns: 300 },
    );
  });

  it("never changes a catalogue that was handed out", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const handedOut: [TrackedCatalog, string][] = [];
        run(steps, (catalog) => handedOut.push([catalog, JSON.stringify(visible(catalog))]));
        for (const [catalog, told] of handedOut) expect(JSON.stringify(visible(catalog))).toBe(told);
      }),
      { numRuns: 50 },
    );
  });
});

function visible(catalog: Catalog) {
  return {
    union: [...catalog.union],
    aliases: [...catalog.aliases],
    allKnown: catalog.allKnown,
    everListed: catalog.everListed.size,
    workers: catalog.workers.map(({ config, engine, health, catalog: state, draining, refused, ...rest }) => ({
      told: [config, engine, health, state, draining, refused, rest.problem, rest.missedPolls, rest.report],
      maps: [rest.byKey, rest.byAlias, rest.asideUntil, rest.breakers, rest.retryAt ?? []].map((map) => [...map]),
    })),
  };
}
