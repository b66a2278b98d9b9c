import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { fakeWorker } from "../support/fake-worker.ts";
import { agents, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

interface Model {
  name: string;
  model: string;
  size: number;
  digest: string;
  capabilities?: string[];
  expires_at?: string;
}

interface Body {
  error: string;
  version: string;
  models: Model[];
}

async function json(gateway: RunningGateway, path: string, init: RequestInit = {}) {
  const response = await fetch(gateway.url + path, init);
  return { status: response.status, body: (await response.json()) as Body };
}

const show = (gateway: RunningGateway, body: unknown, headers: Record<string, string> = {}) =>
  json(gateway, "/api/show", { method: "POST", body: JSON.stringify(body), headers });

async function farm(more: Record<string, unknown> = {}) {
  const a = await fakeWorker({ "org/Qwen3-4B": "warm", nomic: "cold" });
  a.figures["org/Qwen3-4B"] = {
    memory_bytes: 5_000,
    context_length: 8_192,
    quantization: "Q4_K_M",
    digest: "d".repeat(64),
    engine: "llama-server",
  };
  a.figures["nomic"] = { kind: "embeddings" };
  const b = await fakeWorker({ "org/Qwen3-4B": "cold" });
  b.figures["org/Qwen3-4B"] = { memory_bytes: 4_000, context_length: 4_096 };
  const workers = agents({ a, b });
  const gateway = await runGateway({ workers, models: { aliases: { fast: "ORG/QWEN3-4B" } }, ...more });
  await until("polled", async () => (await fetch(`${gateway.url}/readyz`)).status === 200);
  return { gateway, a, b };
}

describe("the farm for Ollama's clients", () => {
  it("lists the models of all workers with their aliases, as Ollama shows its own", async () => {
    const { gateway } = await farm();
    const { body } = await json(gateway, "/api/tags");
    expect(body.models.map(({ name }) => name)).toEqual(["fast:latest", "nomic:latest", "org/Qwen3-4B:latest"]);
    expect(body.models[2]).toEqual({
      name: "org/Qwen3-4B:latest",
      model: "org/Qwen3-4B:latest",
      modified_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
      size: 5_000,
      digest: "d".repeat(64),
      details: {
        parent_model: "",
        format: "gguf",
        family: "qwen3",
        families: ["qwen3"],
        parameter_size: "4B",
        quantization_level: "Q4_K_M",
        context_length: 4_096,
      },
      capabilities: ["completion", "tools"],
    });
    expect(body.models[1]).toMatchObject({ size: 0, capabilities: ["embedding"], details: { family: "bert" } });
    expect(body.models[1]?.digest).toMatch(/^[0-9a-f]{64}$/);
  });

  it("tells what is loaded, and with which context", async () => {
    const { gateway, b } = await farm();
    const { body } = await json(gateway, "/api/ps");
    expect(body.models.map(({ name }) => name)).toEqual(["fast:latest", "org/Qwen3-4B:latest"]);
    expect(body.models[1]).toMatchObject({ size: 5_000, size_vram: 5_000, context_length: 8_192 });
    expect(Date.parse(body.models[1]?.expires_at ?? "")).toBeGreaterThan(Date.now());
    b.models["org/Qwen3-4B"] = "warm";
    await until("b too", async () => {
      const [, model] = (await json(gateway, "/api/ps")).body.models;
      return (model as { context_length?: number } | undefined)?.context_length === 4_096;
    });
  });

  it("shows one model, by any spelling", async () => {
    const { gateway } = await farm();
    for (const asked of [
      { model: "org/qwen3-4b:latest" },
      { name: "org/Qwen3-4B" },
      { model: "fast", verbose: true },
    ]) {
      expect(await show(gateway, asked)).toMatchObject({
        status: 200,
        body: {
          modelfile: "",
          parameters: "",
          template: "",
          capabilities: ["completion", "tools"],
          details: { quantization_level: "Q4_K_M" },
          model_info: { "general.architecture": expect.any(String) },
        },
      });
    }
    expect((await show(gateway, { model: "org/Qwen3-4B" })).body).toMatchObject({
      model_info: {
        "general.architecture": "qwen3",
        "general.parameter_count": 4_000_000_000,
        "qwen3.context_length": 4_096,
      },
    });
    expect(await show(gateway, { model: "org/Qwen3" })).toEqual({
      status: 404,
      body: { error: expect.stringMatching(/model not found.*"org\/Qwen3".*Close to it: "org\/Qwen3-4B"/) },
    });
    for (const asked of [{}, { model: "" }, { model: 1 }, []]) expect((await show(gateway, asked)).status).toBe(400);
  });

  it("shows one worker's copy, as its clients name it", async () => {
    const { gateway } = await farm();
    for (const model of ["org/qwen3-4b@a", "fast@a:latest"]) {
      const { body } = await show(gateway, { model });
      expect(body).toMatchObject({ details: { quantization_level: "Q4_K_M", context_length: 8_192 } });
    }
    const lacking = await show(gateway, { model: "nomic@b" });
    expect(lacking).toMatchObject({ status: 404, body: { error: expect.stringContaining("it is on a") } });
  });

  it("shows a key only what it may use", async () => {
    const { gateway } = await farm({ keys: [{ name: "alice", key: "k-alice-123", models: ["nom*"] }] });
    const headers = { authorization: "Bearer k-alice-123" };
    expect((await json(gateway, "/api/tags", { headers })).body.models.map(({ name }) => name)).toEqual([
      "nomic:latest",
    ]);
    expect((await json(gateway, "/api/ps", { headers })).body.models).toEqual([]);
    expect((await show(gateway, { model: "fast" }, headers)).status).toBe(404);
    expect(await json(gateway, "/api/tags")).toMatchObject({ status: 401, body: { error: expect.any(String) } });
  });

  it("answers HEAD, and a release that clients work with", async () => {
    const { gateway } = await farm();
    for (const path of ["/", "/api/version", "/api/tags", "/api/ps"]) {
      const response = await fetch(gateway.url + path, { method: "HEAD" });
      expect([path, response.status, await response.text()]).toEqual([path, 200, ""]);
    }
    const { version } = (await json(gateway, "/api/version")).body;
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(version.localeCompare("0.6.4", "en", { numeric: true })).toBe(1);
  });

  it("says where to do what changes a worker's disk, however large its body", async () => {
    const { gateway } = await farm();
    const large = Buffer.alloc(1_000_000);
    const paths = ["pull", "push", "create", "copy", "blobs/sha256:0"].map((path) => ["POST", path] as const);
    for (const [method, path] of [...paths, ["DELETE", "delete"] as const]) {
      const answer = await json(gateway, `/api/${path}`, { method, body: large });
      expect([path, answer.status]).toEqual([path, 501]);
      expect(answer.body.error).toMatch(/on the worker itself.*No worker runs Ollama\. Workers: "a", "b"/);
    }
    expect((await fetch(`${gateway.url}/api/blobs/sha256:0`, { method: "HEAD" })).status).toBe(501);
    expect((await json(gateway, "/api/pull")).status).toBe(405);
  });
});
