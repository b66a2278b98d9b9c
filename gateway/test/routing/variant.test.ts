import type { CatalogModel } from "@farmgate/engines";
import { describe, expect, it } from "vitest";
import { copyOf } from "../../src/catalog/copy.ts";
import { choose } from "../../src/routing/choose.ts";
import { explain } from "../../src/routing/explain.ts";
import { otherVariants } from "../../src/routing/nothing-serves.ts";
import { describeStanding, standingOf } from "../../src/routing/standing.ts";
import { holdTo, isOtherVariant } from "../../src/routing/variant.ts";
import { ask, catalogOf, farm, model, worker, type WorkerSketch } from "./farm.ts";

const lists = (name: string, known: Partial<CatalogModel>, more: WorkerSketch = {}) =>
  worker(name, { models: [model("m", "warm", known)], ...more });
const copy = (known: Partial<CatalogModel>) => copyOf(model("m", "warm", known), null);

describe("variants of a model", () => {
  const variants = (...workers: ReturnType<typeof lists>[]) => catalogOf(workers).union.get("m")?.variants ?? null;

  it.each([
    ["another digest", { digest: "sha256:aa" }, { digest: "bb" }],
    ["another quantisation", { quantization: "Q4_K_M" }, { quantization: "Q8_0" }],
    ["another context", { contextLength: 8_192 }, { contextLength: 4_096 }],
    ["one thing alike and another not", { digest: "aa", contextLength: 8_192 }, { digest: "aa", contextLength: 4_096 }],
  ] as const)("are all its copies, where one has %s", (_, one, other) => {
    const told = variants(lists("a", one), lists("b", {}), lists("c", other));
    expect(told?.map(({ worker: name }) => name)).toEqual(["a", "b", "c"]);
    expect(told?.[2]).toEqual({ worker: "c", digest: null, quantization: null, contextLength: null, ...other });
  });

  it.each([
    ["nothing is known of one", { digest: "aa", quantization: "Q4_K_M" }, {}],
    ["different things are known", { digest: "aa" }, { quantization: "Q8_0" }],
    [
      "they are only written differently",
      { digest: "sha256:AA", quantization: "q4_k_m" },
      { digest: "aa", quantization: "Q4_K_M" },
    ],
  ] as const)("are none where %s", (_, one, other) => {
    expect(variants(lists("a", one), lists("b", other))).toBe(null);
  });

  it("are none by what an engine says that a model could take while it is not loaded", () => {
    const cold = (name: string, engine: "ollama" | "agent") =>
      worker(name, { engine, models: [model("m", "cold", { contextLength: 131_072 })] });
    const warm = lists("warm", { contextLength: 4_096 }, { engine: "ollama" });
    expect(variants(warm, cold("cold", "ollama"))).toBe(null);
    expect(variants(warm, cold("cold", "agent"))).toHaveLength(2);
  });

  it("leave out a worker that is out, and have the smallest context advertised", () => {
    const [a, b] = [lists("a", { contextLength: 8_192 }), lists("b", { contextLength: 4_096 })];
    expect(catalogOf([a, b]).union.get("m")?.contextLength).toBe(4_096);
    expect(variants(a, { ...b, health: "unhealthy" })).toBe(null);
  });

  it("are told by explain", () => {
    const context = farm([lists("a", { quantization: "Q4_K_M" }), lists("b", { quantization: "Q8_0" })]);
    expect(explain(ask("m"), context).ranked.map(({ variant }) => variant)).toEqual([
      { digest: null, quantization: "Q4_K_M", context_length: null },
      { digest: null, quantization: "Q8_0", context_length: null },
    ]);
  });
});

describe("a request that failed at one variant", () => {
  it.each([
    ["another digest", { digest: "aa" }, { digest: "bb" }, true],
    ["the same digest", { digest: "aa" }, { digest: "sha256:aa" }, false],
    ["a digest that nobody told", { digest: "aa" }, {}, false],
    ["another quantisation", { quantization: "Q4_K_M" }, { quantization: "Q8_0" }, true],
    ["a smaller context", { contextLength: 8_192 }, { contextLength: 4_096 }, true],
    ["a larger context", { contextLength: 4_096 }, { contextLength: 8_192 }, false],
    ["a context that nobody told", { contextLength: 4_096 }, {}, false],
  ] as const)("and a worker with %s", (_, first, next, other) => {
    expect(isOtherVariant(copy(first), model("m", "warm", next), null)).toBe(other);
  });

  it("goes on with the same variant only, and says why the others are out", () => {
    const first = { digest: "0123456789abcdef", quantization: "Q4_K_M", contextLength: 8_192 };
    const workers = [
      lists("a", first),
      lists("q8", { quantization: "Q8_0" }),
      lists("other", { digest: "sha256:fedcba9876543210" }),
      lists("short", { contextLength: 2_048 }),
      lists("same", first),
    ];
    const context = farm(workers);
    const request = ask("m", { held: copy(first) });
    const decision = choose(request, context, new Set(["a"]));
    expect(decision.kind === "send" && decision.choice.worker.config.name).toBe("same");
    expect(choose(request, context, new Set(["a", "same"]))).toMatchObject({ kind: "none", code: "no_worker" });
    const words = workers.map((entry) =>
      describeStanding(standingOf(entry, request, context), entry, request, context.now),
    );
    expect(words.slice(1, 4)).toEqual([
      "has another variant: Q8_0",
      "has another variant: digest fedcba987654",
      "has another variant: a context of 2048",
    ]);
    expect(otherVariants(request, context)).toBe(
      "q8 has another variant: Q8_0; other has another variant: digest fedcba987654; short has another variant: a context of 2048",
    );
    expect(otherVariants(ask("m"), context)).toBe("");
  });

  it("is held to all that was known of the copies it tried, whichever of them it was", () => {
    const held = holdTo(holdTo(null, copy({ digest: "aa" })), copy({ quantization: "Q4_K_M", contextLength: 4_096 }));
    expect(held).toEqual({ digest: "aa", quantization: "Q4_K_M", context: 4_096 });
    expect(holdTo(held, copy({ digest: "aa", contextLength: 8_192 })).context).toBe(4_096);
  });
});
