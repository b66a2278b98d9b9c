import { readdirSync, readFileSync } from "node:fs";
import { type Adapter, adapterFor, ENGINE_NAMES } from "@farmgate/engines";
import type { GetAnswer } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readPoll } from "../../../engines/src/read-poll.ts";
import { damaged } from "../../../test/harness/damaged.ts";
import { farmModel, farmWorker } from "../../src/routes/farm-views.ts";
import { Inflight } from "../../src/state/inflight.ts";
import { spoiled } from "../support/spoiled.ts";
import { Farm, ok, workerConfig } from "./farm.ts";

const FIXTURES = new URL("../../../engines/test/fixtures/", import.meta.url);

interface Recorded {
  adapter: Adapter;
  main: unknown;
  extra: unknown;
}

/** What real engines answered to the questions for their catalogue. */
const RECORDED: Recorded[] = ENGINE_NAMES.flatMap((engine) => {
  const adapter = adapterFor(engine);
  const folder = new URL(`${engine}/`, FIXTURES);
  return readdirSync(folder).flatMap((file) => {
    const { answers } = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as {
      answers: Record<string, { body: unknown } | undefined>;
    };
    const main = answers[adapter.catalogPath] ?? answers[adapter.olderCatalogPath ?? ""];
    if (typeof main?.body !== "object") return [];
    return [{ adapter, main: main.body, extra: answers[adapter.extraPath ?? ""]?.body ?? null }];
  });
});

const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
const answered = (body: string): GetAnswer => ({ kind: "answer", status: 200, server: "", body });

const HINTS = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "null",
  "-1",
  "1e999",
  '"__proto__":',
  '"id":"",',
  "\\ud800",
  "\\u0000",
  "true",
];

/** One answer with odd values in it, or with damaged bytes. */
const answers = fc.constantFrom(...RECORDED).chain(({ adapter, main, extra }) => {
  const spoil = (value: unknown) =>
    fc.oneof(
      {
        weight: 6,
        arbitrary: typeof value === "object" && value !== null ? spoiled(value).map(text) : fc.constant(text(value)),
      },
      { weight: 2, arbitrary: damaged(fc.constant(text(value)), HINTS).map((bytes) => bytes.toString("utf8")) },
      { weight: 2, arbitrary: fc.constant(text(value)) },
    );
  return fc.tuple(fc.constant(adapter.engine), spoil(main), spoil(extra));
});

/** Every number that is told to people is one; JSON has null in place of the others. */
function oddNumbers(value: unknown): unknown[] {
  if (typeof value === "number") return Number.isFinite(value) && value >= 0 ? [] : [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(oddNumbers) : [];
}

describe("damaged catalogues of every engine", () => {
  it("are catalogues or none, and the farm that they make can be told, whatever is in them", () => {
    expect(new Set(RECORDED.map(({ adapter }) => adapter.engine)).size).toBeGreaterThan(12);
    fc.assert(
      fc.property(fc.array(answers, { minLength: 1, maxLength: 3 }), (all) => {
        const farm = new Farm("good", ...all.map(([engine], i) => workerConfig(`w${i}`, { engine })));
        farm.polled("good", ok(["m=warm"]));
        for (const [i, [engine, main, extra]] of all.entries()) {
          const result = readPoll(adapterFor(engine), answered(main), answered(extra));
          expect(["ok", "no_catalog"]).toContain(result.kind);
          farm.polled(`w${i}`, result);
        }
        const { catalog } = farm;
        const inflight = new Inflight();
        const warmth = { key: "m", name: "m", copies: 0, wanted: 0, trouble: null, note: null };
        const told = [
          ...catalog.workers.map((worker) =>
            farmWorker(worker, { inflight, shows: () => true, leaseMs: null, now: 0 }),
          ),
          ...[...catalog.union.values()].map((model) => farmModel(model, catalog, warmth)),
        ];
        expect(oddNumbers(told)).toEqual([]);
        for (const { id, workers } of catalog.union.values()) {
          expect(id).not.toMatch(/^$|[\u0000-\u001f]/);
          expect(workers.length).toBeGreaterThan(0);
        }
        // No worker takes another one's model away.
        expect(catalog.union.get("m")?.workers).toContain("good");
        expect(catalog.workers.find(({ config }) => config.name === "good")?.health).toBe("healthy");
      }),
      { numRuns: 400 },
    );
  });
});
