import * as fc from "fast-check";
import { nameKey } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { choose } from "../../src/routing/choose.ts";
import { explain } from "../../src/routing/explain.ts";
import type { Decision } from "../../src/routing/types.ts";
import { askFor, farm, model, sent, weighing, worker } from "./farm.ts";

const NONE: ReadonlySet<string> = new Set();

function refused(decision: Decision): { code: string; message: string } {
  if (decision.kind !== "none") throw new Error(`not refused: ${decision.kind}`);
  return decision;
}

describe("a name that is one worker's model and another's alias for something else", () => {
  const owner = worker("owner", { models: [model("m", "cold")] });
  const other = worker("other", { models: [model("big", "warm", { aliases: ["m"] })] });

  it("never leads to that other model", () => {
    const context = farm([other, owner]);
    const choice = sent(choose(askFor("m", context), context, NONE));
    expect([choice.worker.config.name, choice.upstreamModel]).toEqual(["owner", "m"]);
    const { ranked, out } = explain(askFor("m", context), context);
    expect(ranked.map((one) => one.worker)).toEqual(["owner"]);
    expect(out).toEqual([{ worker: "other", reason: "has that name for another model: big" }]);
  });

  it("has no worker, rather than another model, while its own is away or was tried", () => {
    const away = { ...owner, health: "unhealthy" as const };
    const context = farm([other, away]);
    expect(refused(choose(askFor("m", context), context, NONE)).code).toBe("no_worker");
    const all = farm([other, owner]);
    expect(choose(askFor("m", all), all, new Set(["owner"])).kind).toBe("none");
  });

  it("leads to it once nobody has a model of that name any more", () => {
    const context = farm([other, worker("owner")]);
    expect(sent(choose(askFor("m", context), context, NONE)).upstreamModel).toBe("big");
  });
});

describe("a name by which workers mean different models", () => {
  const a = worker("a", { models: [model("small", "warm", { aliases: ["fast"] })] });
  const b = worker("b", { models: [model("big", "warm", { aliases: ["FAST:latest"] })] });

  it("is not found, and the message names each of them with where it is", () => {
    const context = farm([a, b, worker("c")]);
    const { code, message } = refused(choose(askFor("fast", context), context, NONE));
    expect(code).toBe("model_not_found");
    expect(message).toBe(
      'The name "fast" stands for different models: "small" (a), "big" (b). Ask for one of them by its own name.',
    );
  });

  it("stays ambiguous while one of them is away", () => {
    const context = farm([a, { ...b, health: "unhealthy" }]);
    expect(refused(choose(askFor("fast", context), context, NONE)).message).toContain('"big" (b)');
  });

  it("is one worker's model where that worker is named", () => {
    const context = farm([a, b]);
    expect(sent(choose(askFor("fast@b", context), context, NONE)).upstreamModel).toBe("big");
    expect(sent(choose(askFor("fast@a", context), context, NONE)).upstreamModel).toBe("small");
  });

  it("is no difficulty where they mean one model by different spellings", () => {
    const same = worker("b", { models: [model("library/SMALL", "warm", { aliases: ["fast"] })] });
    const context = farm([a, same, worker("c", { models: [model("Small:latest", "warm")] })]);
    const tried = new Set<string>();
    const asked = ["a", "b", "c"].map(() => {
      const choice = sent(choose(askFor("fast", context), context, tried));
      tried.add(choice.worker.config.name);
      return choice.upstreamModel;
    });
    expect(asked.toSorted()).toEqual(["Small:latest", "library/SMALL", "small"]);
  });
});

describe("a name of which there are several with a tag", () => {
  it("is not found, and all of them are named", () => {
    const tags = ["qwen3:8b", "qwen3:4b", "qwen3:0.6b", "qwen3:32b", "qwen3-coder:30b", "llama"];
    const context = farm([worker("a", { models: tags.map((id) => model(id, "warm")) })]);
    expect(refused(choose(askFor("qwen3", context), context, NONE))).toMatchObject({
      code: "model_not_found",
      message:
        'No worker has the model "qwen3", but several of that name: "qwen3:0.6b", "qwen3:32b", "qwen3:4b", "qwen3:8b". ' +
        "Ask for one of them.",
    });
  });
});

describe("a worker that is named", () => {
  const a = worker("a", { models: [model("m", "cold")], maxConcurrent: 1 });
  const b = worker("b", { models: [model("M:latest", "warm")] });

  it("is the only one that is asked, warm or not, and waited for when it is full", () => {
    const context = farm([a, b]);
    expect(sent(choose(askFor("m@a", context), context, NONE)).worker.config.name).toBe("a");
    expect(choose(askFor("m@a", context), context, new Set(["a"])).kind).toBe("none");
    context.inflight.enter("a", "m");
    expect(choose(askFor("m@a", context), context, NONE)).toEqual({ kind: "wait", set: "loading" });
    expect(choose(askFor("m@a", context), weighing(context), NONE).kind).toBe("wait");
  });

  it.each([
    [{ health: "unhealthy" }, "No worker can serve"],
    [{ draining: true }, 'No worker can serve "m@a" now: a is draining'],
    [{ models: [], catalog: "unreachable", refusesUnknown: false }, "No worker can serve"],
  ] as const)("has no worker while it is %j", (sketch, message) => {
    const context = farm([worker("a", { models: [model("m", "warm")], ...sketch }), b]);
    const refusal = refused(choose(askFor("m@a", context), context, NONE));
    expect(refusal.code).toBe("no_worker");
    expect(refusal.message).toContain(message);
  });

  it("does not have it: that is said with who has", () => {
    const context = farm([worker("a"), b, worker("c", { models: [model("m", "warm")] })]);
    expect(refused(choose(askFor("m@a", context), context, NONE))).toMatchObject({
      code: "model_not_found",
      message: 'The worker a does not have the model "m"; it is on b, c.',
    });
    expect(refused(choose(askFor("n@a", context), context, NONE)).message).toContain('No worker has the model "n"');
  });

  it("is told of by explain, which has the others out", () => {
    const { ranked, out } = explain(askFor("m@a", farm([a, b])), farm([a, b]));
    expect(ranked.map((one) => one.worker)).toEqual(["a"]);
    expect(out).toEqual([{ worker: "b", reason: "is not the worker that was asked for" }]);
  });
});

const NAMES = ["m", "M:latest", "hf.co/m", "n", "library/N", "o", "p"];
const anyModel = fc
  .record({ id: fc.constantFrom(...NAMES), aliases: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 3 }) })
  .map(({ id, aliases }) => model(id, "warm", { aliases }));
const anyWorker = fc.record({
  models: fc.array(anyModel, { maxLength: 3 }),
  health: fc.constantFrom("healthy" as const, "healthy" as const, "unhealthy" as const),
  deny: fc.constantFrom([], [], ["n"]),
});

describe("whatever names workers have for their models", () => {
  it("a request for a name never reaches a worker under another model's id, nor one of another meaning", () => {
    fc.assert(
      fc.property(
        fc.array(anyWorker, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(...NAMES),
        fc.constantFrom("", "", "@w0", "@w1"),
        (sketches, name, at) => {
          const workers = sketches.map((sketch, i) => worker(`w${i}`, sketch));
          const context = farm(workers);
          const request = askFor(name + at, context);
          const key = nameKey(name);
          const own = workers.some(({ byKey }) => byKey.has(key));
          const addressed = workers.find(({ config }) => `@${config.name}` === at);
          const problems: string[] = [];
          const asked = new Set<string>();
          const tried = new Set<string>();
          const step = () => choose(request, context, tried);
          for (let next = step(); next.kind === "send"; next = step()) {
            const { worker: entry, upstreamModel } = next.choice;
            const sentAs = nameKey(upstreamModel);
            tried.add(entry.config.name);
            asked.add(sentAs);
            if (addressed !== undefined && entry !== addressed) problems.push("another worker than was asked for");
            if (own && sentAs !== key) problems.push(`${sentAs} in place of a model's own name`);
            if (entry.byAlias.has(sentAs)) problems.push(`${entry.config.name} means another model by ${sentAs}`);
          }
          if (asked.size > 1) problems.push("different models");
          const meant = new Set(workers.flatMap(({ byAlias }) => byAlias.get(key)?.id ?? []).map(nameKey));
          const isAmbiguous = !own && meant.size > 1 && addressed === undefined;
          if (isAmbiguous && asked.size > 0) problems.push("an ambiguous name");
          expect(problems).toEqual([]);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
