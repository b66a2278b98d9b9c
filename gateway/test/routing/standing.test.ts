import { catalogReport } from "@farmgate/engines";
import { describe, expect, it } from "vitest";
import type { EngineName } from "@farmgate/engines";
import type { WorkerEntry } from "../../src/catalog/types.ts";
import { describeStanding, standingOf } from "../../src/routing/standing.ts";
import { ask, askFor, busy, catalogOf, farm, model, worker } from "./farm.ts";

function stands(entry: WorkerEntry, others: readonly WorkerEntry[] = [], inflight = 0): string {
  const context = farm([entry, ...others]);
  busy(context, entry.config.name, inflight);
  const { set, warmth } = standingOf(entry, ask("m"), context);
  return set === null ? "out" : `${set} ${warmth}`;
}

const listing = worker("other", { models: [model("m", "cold")] });

describe("a worker that lists the model", () => {
  it.each([
    ["warm", 0, "leading warm"],
    ["unknown", 0, "leading possibly-warm"],
    ["loading", 0, "loading loading"],
    ["cold", 0, "cold cold"],
    ["cold", 1, "loading loading"],
    ["failed", 0, "failed cold"],
    ["failed", 1, "loading loading"],
    ["warm", 3, "leading warm"],
  ] as const)("as %s with %i requests for it there: %s", (state, inflight, expected) => {
    expect(stands(worker("w", { models: [model("m", state)] }), [], inflight)).toBe(expected);
  });

  it("whose load failed is out until the next try is due, unless it is an agent, which keeps count itself", () => {
    const models = [model("m", "failed")];
    expect(stands(worker("w", { models, retryAt: new Map([["m", 1_001]]) }))).toBe("out");
    expect(stands(worker("w", { models, retryAt: new Map([["m", 1_001]]) }), [], 1)).toBe("out");
    expect(stands(worker("w", { models, retryAt: new Map([["m", 1_000]]) }))).toBe("failed cold");
    expect(stands(worker("w", { models, retryAt: new Map([["other", 1_001]]) }))).toBe("failed cold");
    expect(stands(worker("w", { models, engine: "agent", retryAt: new Map([["m", 1_001]]) }))).toBe("failed cold");
  });

  it("is not loading it because another model's request is there", () => {
    const entry = worker("w", { models: [model("m", "cold")] });
    const context = farm([entry]);
    busy(context, "w", 1, "another");
    expect(standingOf(entry, ask("m"), context).set).toBe("cold");
  });

  it.each(["mlx", "lmstudio", "llama-server", "ollama"] as const)(
    "stays possibly warm when its catalogue cannot be fetched any more: %s",
    (engine) => {
      const entry = worker("w", {
        engine,
        models: [model("m", "cold")],
        catalog: "unreachable",
        refusesUnknown: false,
      });
      expect(stands(entry)).toBe("leading possibly-warm");
    },
  );

  it("goes by its last data while that is only stale", () => {
    expect(stands(worker("w", { models: [model("m", "cold")], catalog: "stale" }))).toBe("cold cold");
  });

  it("is found by every spelling and alias", () => {
    const entry = worker("w", { models: [model("Org/M-GGUF:latest", "warm", { aliases: ["code"] })] });
    const context = farm([entry]);
    const names = ["org/m-gguf", "ORG/M-GGUF:LATEST", "hf.co/org/M-GGUF", "Code"];
    const sets = names.map((name) => standingOf(entry, askFor(name, context), context).set);
    expect(sets).toEqual(["leading", "leading", "leading", "leading"]);
  });
});

describe("a worker that is out", () => {
  const models = [model("m", "warm")];
  it.each([
    ["unhealthy", { models, health: "unhealthy" }],
    ["misconfigured", { models, health: "misconfigured" }],
    ["draining", { models, draining: true }],
    ["set aside for this model", { models, aside: { m: 1_001 } }],
    ["for another API with this model", { models: [model("m", "warm", { apis: ["embeddings"] })] }],
  ] as const)("%s", (_, sketch) => {
    expect(stands(worker("w", sketch))).toBe("out");
  });

  it("comes back when the time aside is over, and was never out for other models", () => {
    expect(stands(worker("w", { models, aside: { m: 1_000 } }))).toBe("leading warm");
    expect(stands(worker("w", { models, aside: { other: 9_999 } }))).toBe("leading warm");
  });

  it("serves the APIs that the model names", () => {
    expect(stands(worker("w", { models: [model("m", "warm", { apis: ["embeddings", "chat"] })] }))).toBe(
      "leading warm",
    );
  });
});

describe("no wrong model ever answers", () => {
  const everyEngine: [EngineName, string][] = [
    ["agent", "leading possibly-warm"],
    ["ollama", "leading possibly-warm"],
    ["vllm", "leading possibly-warm"],
    ["llama-swap", "leading possibly-warm"],
    ["openai", "leading possibly-warm"],
    ["llama-server", "out"],
    ["lmstudio", "out"],
    ["mlx", "out"],
    ["tei", "out"],
    ["tgi", "out"],
    ["sglang", "out"],
    ["koboldcpp", "out"],
    ["whisper", "out"],
    ["localai", "out"],
    ["lemonade", "out"],
    ["jano", "leading possibly-warm"],
  ];

  it.each(everyEngine)("without any catalogue so far, %s stands: %s", (engine, expected) => {
    const entry = worker("w", { engine, catalog: "unreachable", health: "unknown", reported: false });
    expect(stands(entry, [listing])).toBe(expected);
  });

  it("goes by the configured engine before a poll has recognised it", () => {
    const entry = worker("w", { catalog: "unreachable", reported: false });
    const mlx = { ...entry, config: { ...entry.config, engine: "mlx" as const } };
    expect([stands(entry), stands(mlx)]).toEqual(["leading possibly-warm", "out"]);
  });

  it("takes a llama-server that said it is a router, whatever its kind would say", () => {
    const router = worker("w", { engine: "llama-server", catalog: "unreachable", refusesUnknown: true });
    expect(stands(router, [listing])).toBe("leading possibly-warm");
    const single = worker("w", { engine: "llama-server", catalog: "unreachable", refusesUnknown: false });
    expect(stands(single, [listing])).toBe("out");
  });

  it("never takes a worker that might guess as a last resort", () => {
    expect(stands(worker("w", { refusesUnknown: false }), [listing])).toBe("out");
    expect(stands(worker("w", { refusesUnknown: true }), [listing])).toBe("unlisted unlisted");
  });

  it("asks nobody for a model that no catalogue ever listed while all are known", () => {
    const entry = worker("w");
    expect(stands(entry)).toBe("out");
    expect(stands(entry, [worker("away", { catalog: "unreachable" })])).toBe("unlisted unlisted");
    const context = { ...farm([entry]), catalog: catalogOf([entry], ["m"]) };
    expect(standingOf(entry, ask("m"), context).set).toBe("unlisted");
  });
});

describe("what the owner allows", () => {
  it.each([
    [{ deny: ["m"] }, "out"],
    [{ deny: ["M:latest"] }, "out"],
    [{ deny: ["x*", "*"] }, "out"],
    [{ allow: ["embed-*"] }, "out"],
    [{ allow: ["embed-*", "m*"] }, "unlisted unlisted"],
    [{ deny: ["big-*"] }, "unlisted unlisted"],
  ])("holds for a last resort too: %j is %s", (rules, expected) => {
    expect(stands(worker("w", rules), [listing])).toBe(expected);
  });

  it("holds while the catalogue cannot be fetched", () => {
    expect(stands(worker("w", { deny: ["m"], catalog: "unreachable" }))).toBe("out");
  });

  it("is not walked around by the worker's other name for a denied model", () => {
    const listed = worker("w", { deny: ["big-*"] });
    const report = catalogReport([model("big-one", "warm", { aliases: ["m"] })]);
    expect(stands({ ...listed, report }, [listing])).toBe("out");
  });
});

it("says why in words, with what the poll told", () => {
  const say = (entry: WorkerEntry) => {
    const context = farm([entry, listing]);
    return describeStanding(standingOf(entry, ask("m"), context), entry, ask("m"), context.now);
  };
  expect(say(worker("w", { health: "unhealthy", problem: "no answer in 2 s" }))).toBe(
    "is unhealthy (no answer in 2 s)",
  );
  expect(say(worker("w", { aside: { m: 5_000 } }))).toBe("is set aside for this model: it answered 404, for 4 s");
  expect(say(worker("w", { models: [model("m", "warm")], problem: "stale" }))).toBe("has it loaded");
});
