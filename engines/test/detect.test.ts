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
    ["llama-server by its Server header", { server: "llama.cpp" }, "llama-server"],
    ["llama-server while it loads", { server: "llama.cpp", status: 503 }, "llama-server"],
    ["Ollama", { answers: { "/": "Ollama is running" } }, "ollama"],
    [
      "LocalAI, which imitates Ollama",
      { answers: { "/": "Ollama is running", "/.well-known/localai.json": { version: "4" } } },
      "openai",
    ],
    ["KoboldCpp", { server: "ConcedoLlamaForKoboldServer", answers: { "/api/tags": { models: [] } } }, "openai"],
    ["llama-swap", { answers: { "/running": { running: [] }, "/v1/models": list("llama-swap") } }, "llama-swap"],
    ["LM Studio", { answers: { "/api/v1/models": { models: [{ key: "m", loaded_instances: [] }] } } }, "lmstudio"],
    ["LM Studio without a model", { answers: { "/api/v1/models": { models: [] } } }, "lmstudio"],
    ["an older LM Studio", { answers: { "/api/v0/models": { data: [{ id: "m", state: "loaded" }] } } }, "lmstudio"],
    [
      "Lemonade, whose list has another form",
      { answers: { "/api/v1/models": list("lemonade"), "/v1/models": list("lemonade") } },
      "openai",
    ],
    [
      "Ollama behind a proxy",
      { answers: { "/api/version": { version: "0.33" }, "/api/ps": { models: [] } } },
      "ollama",
    ],
    ["llama-server behind a proxy", { answers: { "/props": { build_info: "b1" } } }, "llama-server"],
    ["TEI", { answers: { "/info": { model_type: { embedding: {} }, max_client_batch_size: 32 } } }, "tei"],
    [
      "TGI, which has an /info of its own",
      { answers: { "/info": { max_total_tokens: 1 }, "/v1/models": list("x") } },
      "openai",
    ],
    [
      "mlx",
      { server: "BaseHTTP/0.6 Python/3.12", answers: { "/health": { status: "ok" }, "/v1/models": { data: [] } } },
      "mlx",
    ],
    ["vLLM", { server: "uvicorn", answers: { "/v1/models": list("vllm") } }, "vllm"],
    ["any other OpenAI list", { answers: { "/v1/models": list("someone") } }, "openai"],
    ["an empty OpenAI list", { answers: { "/v1/models": { data: null } } }, "openai"],
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

  it("takes a page that is the same everywhere for nothing", () => {
    const page = "<!doctype html><title>It works</title>";
    const everywhere = new Proxy<Record<string, unknown>>({}, { get: () => page });
    expect(detect({ answers: everywhere })).toMatchObject({ kind: "unrecognised", unauthorized: false });
  });

  it("tells that a key is asked for", () => {
    expect(detect({ status: 401 })).toMatchObject({ kind: "unrecognised", unauthorized: true });
  });

  it("never asks a path that loads, wakes or unloads something, nor one twice", () => {
    const { asked } = detect({ server: "BaseHTTP/0.6", answers: { "/api/version": { version: "1" } } });
    expect(new Set(asked).size).toBe(asked.length);
    for (const path of asked) expect(path).not.toMatch(/unload|upstream|slots|generate|\?|reload/);
  });
});
