import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adapterFor } from "../src/adapter-for.ts";
import { nextProbe, probeAnswer } from "../src/detect.ts";
import type { EngineName } from "../src/catalog.ts";

const ENGINES: EngineName[] = [
  "agent",
  "ollama",
  "llama-server",
  "vllm",
  "lmstudio",
  "llama-swap",
  "mlx",
  "tei",
  "openai",
];
const MEANINGS = ["client_fault", "unknown_model", "busy", "loading", "load_failed", "worker_fault"];

const KEYS =
  "id name key aliases status value failed meta n_ctx state models data loaded_instances config running model protocol " +
  "draining slots total apis kind model_id model_type capabilities details llamaswap type __proto__ owned_by";

const anything = fc.jsonValue({ maxDepth: 2 });
const name = fc.oneof(
  fc.constantFrom("", "m", "m:latest", ":latest", "\u0000", "a\u0085b", "\n", "\ud800", "__proto__"),
  fc.string(),
);
const field = fc.oneof(name, anything, fc.array(name, { maxLength: 3 }));
const item = fc.oneof(
  { weight: 9, arbitrary: fc.dictionary(fc.constantFrom(...KEYS.split(" ")), field, { maxKeys: 8 }) },
  { weight: 9, arbitrary: fc.record({ id: name, name, key: name, aliases: fc.array(field), status: anything }) },
  anything,
);
const list = fc.oneof({ weight: 4, arbitrary: fc.array(item, { maxLength: 4 }) }, anything);
/** JSON that comes close enough to a catalogue to get past the first look. */
const nearCatalogue = fc.record(
  { protocol: fc.oneof(fc.nat(), anything), models: list, data: list, running: list, model_id: name, role: field },
  { requiredKeys: [] },
);

describe.each(ENGINES)("%s, whatever a server answers", (engine) => {
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
