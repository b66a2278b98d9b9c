import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Cleanup, type FarmgateProcess } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { until } from "../harness/until.ts";
import { logLines, run, start, told, written } from "./cli-process.ts";
import { farmFile } from "./farm-file.ts";

const cleanup = new Cleanup();
let url = "";
let up: FarmgateProcess;
let client: OpenAI;

beforeAll(async () => {
  const [gateway = 0, gpu = 0, mac = 0, gpuEngine = 0, macEngine = 0] = await freePorts(5);
  const text = farmFile({ gateway, agents: [gpu, mac], engines: [gpuEngine, macEngine] });
  up = start(cleanup, ["up", "--config", await written(cleanup, "farm.yaml", text)]);
  url = `http://127.0.0.1:${gateway}`;
  client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
  await told(up, "Farmgate is up");
});

afterAll(() => cleanup.run());

async function streamed(
  model: string,
  maxTokens = 20,
): Promise<{ text: string; finish: string | null; model: string }> {
  const answer = { text: "", finish: null as string | null, model: "" };
  const stream = await client.chat.completions.create({
    model,
    stream: true,
    max_tokens: maxTokens,
    messages: [{ role: "user", content: "Tell me about farms." }],
  });
  for await (const chunk of stream) {
    answer.text += chunk.choices[0]?.delta.content ?? "";
    answer.finish = chunk.choices[0]?.finish_reason ?? answer.finish;
    answer.model = chunk.model;
  }
  return answer;
}

describe("a farm that `farmgate up` started", () => {
  test("tells its address and commands to paste", () => {
    expect(up.stdout()).toContain(`Farmgate is up: ${url}`);
    expect(up.stdout()).toContain(`curl ${url}/v1/models`);
    expect(up.stdout()).toMatch(/"model":"(coder|small)"/);
    expect(up.stdout()).toContain(`farmgate status --gateway ${url}`);
    expect(up.stdout()).not.toContain("SIMULATED");
  });

  test("lists the union of its workers' models", async () => {
    const ids = (await client.models.list()).data.map((model) => model.id);
    expect(ids.toSorted()).toEqual(["coder", "small", "writer"]);
  });

  test("streams a chat from the machine that has the model", async () => {
    const answer = await streamed("small");
    expect(answer.text.length).toBeGreaterThan(10);
    expect(answer).toMatchObject({ finish: "length", model: "small" });
  });

  test("swaps for a model that is not loaded", async () => {
    expect(await streamed("writer")).toMatchObject({ finish: "length", model: "writer" });
    expect(await streamed("coder")).toMatchObject({ finish: "length", model: "coder" });
  });

  test("runs each program in a process of its own", () => {
    const pids = new Set(logLines(up).map((line) => line.pid));
    const names = new Set(logLines(up).map((line) => line.name));
    expect(names).toEqual(new Set(["gateway", "agent gpu", "agent mac", "engine gpu-engine", "engine mac-engine"]));
    expect(pids.size).toBe(5);
  });

  test("shows its state", async () => {
    const { code, stdout } = await run(["status", "--gateway", url]);
    expect(code).toBe(0);
    expect(stdout).toContain("2 workers, 3 models");
    expect(stdout).toMatch(/^gpu +healthy +fresh +agent /m);
    expect(stdout).toMatch(/^small +\S+ .*warm on mac$/m);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("shows its state as JSON", async () => {
    const { stdout } = await run(["status", "--gateway", url, "--json"]);
    const state = JSON.parse(stdout) as { workers: { name: string }[]; models: unknown[]; requests: unknown[] };
    expect(state.workers.map((worker) => worker.name)).toEqual(["gpu", "mac"]);
    expect(state.models).toHaveLength(3);
    expect(state.requests).toEqual([]);
  });

  test("shows its state again and again until the reader goes, and then ends quietly", async () => {
    const watching = start(cleanup, ["status", "--gateway", url, "--watch"]);
    await until(() => watching.stdout().split("WORKER").length > 2, "two tables");
    watching.child.stdout?.destroy();
    expect(await watching.ended).toBe(0);
    expect(watching.stderr()).toBe("");
  });

  test("explains where a request would go", async () => {
    const { code, stdout } = await run(["explain", "small", "--gateway", url]);
    expect(code).toBe(0);
    expect(stdout).toContain("small: a request that came now would go to mac.");
    expect(stdout).toMatch(/^1 +mac +leading +warm /m);
  });

  test("explains as JSON, and refuses nothing about an unknown model", async () => {
    const { code, stdout } = await run(["explain", "no-such-model", "--gateway", url, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ decision: { kind: "none", code: "model_not_found" } });
  });

  test("drains on SIGTERM: a running answer ends well, the gateway closes before the agents, those before the engines", async () => {
    const answer = streamed("small", 150);
    await until(async () => {
      const { requests } = (await (await fetch(`${url}/farm/requests`)).json()) as { requests: { phase: string }[] };
      return requests.some((request) => request.phase === "answering");
    }, "the request is being answered");
    up.child.kill("SIGTERM");
    expect(await answer).toMatchObject({ finish: "length", model: "small" });
    expect(await up.ended).toBe(0);
    const closing = logLines(up)
      .filter((line) => line.msg === "SIGTERM: closing")
      .toSorted((a, b) => a.time.localeCompare(b.time));
    expect(closing.map((line) => line.name.split(" ")[0])).toEqual([
      "up",
      "gateway",
      "agent",
      "agent",
      "engine",
      "engine",
    ]);
  });
});
