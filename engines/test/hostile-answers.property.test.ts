import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adapterFor } from "../src/adapter-for.ts";
import { nextProbe, probeAnswer } from "../src/detect.ts";
import { ENGINE_NAMES } from "../src/catalog.ts";

const MEANINGS = ["client_fault", "unknown_model", "busy", "loading", "load_failed", "worker_fault"];

const KEYS =
  "id name key aliases status value failed meta n_ctx state models data loaded_instances config running model protocol " +
  "draining slots total apis kind model_id model_type capabilities details llamaswap type __proto__ owned_by " +
  "size size_bytes digest quantization parallel total_slots labels recipe checkpoint loaded_models all_models_loaded " +
  "model_name recipe_options ctx_size currentModel queueByModel tokSByModel queue is_sleeping max_total_tokens " +
  "max_concurrent_requests max_running_requests model_sha remote_model";

const anything = fc.jsonValue({ maxDepth: 2 });
const name = fc.oneof(
  fc.constantFrom("", "m", "m:latest", ":latest", "\u0000", "a\u0085b", "\n", "\ud800", "__proto__"),
  fc.string(),
);
const figure = fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(0, -1, 0.5, 1e308), fc.string());
const field = fc.oneof(figure, name, anything, fc.array(name, { maxLength: 3 }));
const item = fc.oneof(
  { weight: 9, arbitrary: fc.dictionary(fc.constantFrom(...KEYS.split(" ")), field, { maxKeys: 8 }) },
  { weight: 9, arbitrary: fc.record({ id: name, name, key: name, aliases: fc.array(field), status: anything }) },
  anything,
);
const list = fc.oneof({ weight: 4, arbitrary: fc.array(item, { maxLength: 4 }) }, anything);
/** JSON that comes close enough to a catalogue to get past the first look. */
const nearCatalogue = fc.record(
  {
    protocol: fc.oneof(fc.nat(), anything),
    models: list,
    data: list,
    running: list,
    loaded_models: list,
    all_models_loaded: list,
    model_id: name,
    role: field,
    currentModel: field,
    queueByModel: fc.dictionary(name, figure),
    queue: figure,
    is_sleeping: fc.boolean(),
    total_slots: figure,
    max_concurrent_requests: figure,
    max_running_requests: figure,
  },
  { requiredKeys: [] },
);

describe.each(ENGINE_NAMES)("%s, whatever a server answers", (engine) => {
  const adapter = adapterFor(engine);

  it("reads a list of usable names or none", () => {
    const main = fc.oneof({ weight: 5, arbitrary: nearCatalogue }, anything);
    fc.assert(
      fc.property(main, main, (main, extra) => {
        const report = adapter.parse(main, extra);
        for (const { id, aliases } of report?.models ?? []) {
          for (const name of [id, ...aliases]) {
            expect(name.length).toBeGreaterThan(0);
            expect(name.length).toBeLessThanOrEqual(300);
            expect(name).not.toMatch(/[\u0000-\u001f\u007f-\u009f]|\p{Cs}/u);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it("reads figures that can be counted with, or none", () => {
    const main = fc.oneof({ weight: 5, arbitrary: nearCatalogue }, anything);
    fc.assert(
      fc.property(main, main, (main, extra) => {
        const report = adapter.parse(main, extra);
        for (const { slots, memoryBytes, contextLength, queued } of report?.models ?? []) {
          const counts = [slots, report?.slots ?? null].filter((told) => told !== null);
          const figures = [...counts, memoryBytes, contextLength, queued].filter((told) => told !== null);
          expect(figures.filter((told) => !Number.isFinite(told) || told < 0)).toEqual([]);
          expect(counts.filter((told) => told < 1 || !Number.isInteger(told))).toEqual([]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("makes calls of it that go where they should and name a model", () => {
    const main = fc.oneof({ weight: 5, arbitrary: nearCatalogue }, anything);
    fc.assert(
      fc.property(main, main, (main, extra) => {
        for (const model of adapter.parse(main, extra)?.models ?? []) {
          const load = adapter.load(model);
          for (const { path, body } of [...(load === null ? [] : [load]), ...adapter.unload(model)]) {
            expect(path).toMatch(/^\/[\w/.%~!'()*?=-]+$/);
            if (engine === "vllm") continue;
            const told = decodeURIComponent(path) + Object.values(body).join("\n");
            expect([model.id, ...model.instances].some((name) => told.includes(name))).toBe(true);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it("finds some meaning in it", () => {
    const body = fc.oneof(
      fc.string(),
      fc.json(),
      nearCatalogue.map((value) => JSON.stringify(value) ?? ""),
    );
    fc.assert(
      fc.property(fc.integer({ min: 300, max: 599 }), body, (status, text) => {
        expect(MEANINGS).toContain(adapter.meaning({ status, body: text }));
      }),
    );
  });

  it("reads no more than 10,000 models", () => {
    const item = { id: "m", name: "m", key: "m", loaded_instances: [] };
    const items = Array.from({ length: 20_000 }, () => item);
    const report = adapter.parse({ protocol: 1, models: items, data: items }, null);
    expect(report?.models.length ?? 0).toBeLessThanOrEqual(10_000);
  });
});

describe("detection, whatever a server answers", () => {
  it("ends within fifteen GETs", () => {
    const answer = fc.record({
      status: fc.constantFrom(0, 200, 302, 401, 404, 500),
      server: fc.constantFrom("", "BaseHTTP/0.6", "uvicorn", "nginx"),
      body: fc.oneof(
        fc.string(),
        nearCatalogue.map((value) => JSON.stringify(value) ?? ""),
      ),
    });
    fc.assert(
      fc.property(fc.array(answer, { minLength: 15, maxLength: 15 }), (answers) => {
        const asked: ReturnType<typeof probeAnswer>[] = [];
        for (const { status, server, body } of answers) {
          const step = nextProbe(asked);
          if (step.kind !== "probe") return;
          asked.push(probeAnswer(step.path, status, server, body));
        }
        expect(nextProbe(asked).kind).not.toBe("probe");
      }),
    );
  });
});
