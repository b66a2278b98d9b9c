import { describe, expect, it } from "vitest";
import type { WorkerEntry } from "../../src/catalog/types.ts";
import { choose } from "../../src/routing/choose.ts";
import type { RoutingRequest } from "../../src/routing/types.ts";
import { ask, farm, model, worker } from "./farm.ts";

const models = [model("qwen3-8b", "warm"), model("qwen3-4b", "cold"), model("embed", "warm", { apis: ["embeddings"] })];

function refusal(workers: readonly WorkerEntry[], request: RoutingRequest, tried: readonly string[] = []) {
  const decision = choose(request, farm(workers), new Set(tried));
  if (decision.kind !== "none") throw new Error(`not refused: ${decision.kind}`);
  return decision;
}

describe("a model that nobody has", () => {
  it("is not found, and the message names what comes close", () => {
    const { code, message } = refusal([worker("a", { models })], ask("qwen3-7b"));
    expect(code).toBe("model_not_found");
    expect(message).toBe('No worker has the model "qwen3-7b". Close to it: "qwen3-4b", "qwen3-8b".');
  });

  it("is not likened to models that the caller's key does not allow", () => {
    const { message } = refusal([worker("a", { models })], ask("qwen3-7b", { patterns: ["*-4b", "*-7b"] }));
    expect(message).toBe('No worker has the model "qwen3-7b". Close to it: "qwen3-4b".');
    const one = worker("a", { models: [model("private", "warm", { aliases: ["fast"] })] });
    const two = worker("b", { models: [model("public", "warm", { aliases: ["fast"] })] });
    const told = (patterns: string[]) => refusal([one, two], ask("fast", { patterns })).message;
    expect(told(["fast", "public"])).toContain('stands for different models: "public" (b). Ask');
    expect(told(["fast"])).toContain("stands for different models. Ask");
  });

  it("is not found by a name like nothing else", () => {
    expect(refusal([worker("a", { models })], ask("something else entirely")).message).not.toContain("Close");
  });

  it("may be there while a catalogue is not known", () => {
    const silent = worker("silent", { engine: "mlx", catalog: "unreachable", reported: false });
    const { code, message } = refusal([worker("a", { models, refusesUnknown: false }), silent], ask("x"));
    expect(code).toBe("no_worker");
    expect(message).toContain("silent does not list it and could answer with another model");
  });
});

describe("a model that somebody has", () => {
  it.each([
    ["unhealthy", { health: "unhealthy" }, "a is unhealthy"],
    ["draining", { draining: true }, "a is draining"],
    ["set aside", { aside: { "qwen3-8b": 2_000 } }, "a is set aside"],
  ] as const)("has no worker while that one is %s", (_, sketch, reason) => {
    const other = worker("b", { refusesUnknown: false });
    const { code, message } = refusal([worker("a", { models, ...sketch }), other], ask("qwen3-8b"));
    expect(code).toBe("no_worker");
    expect(message).toContain(reason);
  });

  it("has no worker left when all were tried", () => {
    const { code, message } = refusal([worker("a", { models })], ask("qwen3-8b"), ["a"]);
    expect(code).toBe("no_worker");
    expect(message).toContain("a was tried");
  });

  it("is not found for an API that no worker serves with it: waiting would not help", () => {
    const { code, message } = refusal([worker("a", { models })], ask("embed"));
    expect(code).toBe("model_not_found");
    expect(message).toBe('No worker serves chat with the model "embed" (a: it serves embeddings with it).');
  });
});

describe("a model whose workers speak other APIs", () => {
  const whisper = worker("box", { engine: "whisper", models: [model("whisper", "warm")] });
  const other = worker("other", { engine: "llama-server", models: [model("whisper", "warm", { apis: [] })] });

  it("is not found, and the message says what they serve with it", () => {
    const { code, message } = refusal([whisper, other], ask("whisper"));
    expect(code).toBe("model_not_found");
    expect(message).toBe(
      'No worker serves chat with the model "whisper" (box: whisper speaks transcriptions, inference; ' +
        "other: it serves none of the APIs that there are here with it).",
    );
  });

  it("has no worker while one that may serve it is away", () => {
    const away = worker("away", { models: [model("whisper", "warm")], health: "unhealthy" });
    const { code, message } = refusal([whisper, away], ask("whisper"));
    expect(code).toBe("no_worker");
    expect(message).toContain("box does not serve chat with it: whisper speaks transcriptions, inference; away is unh");
  });
});

describe("a farm without workers in use", () => {
  it("has no worker, whatever the model", () => {
    expect(refusal([], ask("m"))).toMatchObject({
      code: "no_worker",
      message: expect.stringContaining("has no workers"),
    });
    const away = Array.from({ length: 5 }, (_, i) => worker(`w${i}`, { health: "unhealthy", reported: false }));
    const { code, message } = refusal(away, ask("m"));
    expect(code).toBe("no_worker");
    expect(message).toContain("w0 is unhealthy; w1 is unhealthy; w2 is unhealthy; and 2 more");
  });
});
