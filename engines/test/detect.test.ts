import { describe, expect, it } from "vitest";
import { nextProbe, type ProbeAnswer, probeAnswer } from "../src/detect.ts";
import { recordedAnswer } from "./recorded-answer.ts";

/** A server as its answers to detection: path -> body as JSON or text, else `status`. */
interface Server {
  server?: string;
  answers?: Record<string, unknown>;
  status?: number;
}

function detect({ server = "", answers = {}, status = 404 }: Server) {
  const asked: ProbeAnswer[] = [];
  for (let step = 0; step < 20; step += 1) {
    const next = nextProbe(asked);
    if (next.kind !== "probe") return { ...next, asked: asked.map((answer) => answer.path) };
    const body = answers[next.path];
    const text = typeof body === "string" ? body : JSON.stringify(body ?? {});
    asked.push(probeAnswer(next.path, body === undefined ? status : 200, server, text));
  }
  throw new Error("detection does not end");
}

const list = (owner: string) => ({ object: "list", data: [{ id: "m", owned_by: owner }] });

describe("detection", () => {
  it.each<[string, Server, string]>([
    ["a worker agent", { answers: { "/catalog": { protocol: 1, models: [] } } }, "agent"],
    ["llama-server while it loads", { server: "llama.cpp", status: 503 }, "llama-server"],
    ["LM Studio without a model", { answers: { "/api/v1/models": { models: [] } } }, "lmstudio"],
    ["an empty OpenAI list", { answers: { "/v1/models": { data: null } } }, "openai"],
    [
      "an SGLang that says it is Ollama",
      { answers: { "/": '"Ollama is running"', "/v1/models": list("sglang") } },
      "sglang",
    ],
    [
      "Lemonade without a health route",
      { answers: { "/api/v1/models": list("lemonade"), "/v1/models": list("lemonade") } },
      "lemonade",
    ],
    ["TGI by its router", { answers: { "/info": { model_id: "m", router: "text-generation-router" } } }, "tgi"],
    [
      "a version that is not Ollama's",
      { answers: { "/api/version": { version: "1" }, "/v1/models": list("x") } },
      "openai",
    ],
  ])("finds %s", (_, server, engine) => {
    expect(detect(server)).toMatchObject({ kind: "found", engine });
  });

  it("finds a real llama-server in its first answer, also while it loads", () => {
    for (const name of ["single-404", "loading-models"]) {
      const { status, server, body } = recordedAnswer(name);
      expect(nextProbe([probeAnswer("/catalog", status, server, body)])).toEqual({
        kind: "found",
        engine: "llama-server",
      });
    }
  });

  it("never asks a path that loads, wakes or unloads something, nor one twice", () => {
    const { asked } = detect({ server: "BaseHTTP/0.6", answers: { "/api/version": { version: "1" } } });
    expect(new Set(asked).size).toBe(asked.length);
    for (const path of asked) expect(path).not.toMatch(/unload|upstream|slots|generate|\?|reload/);
  });
});
