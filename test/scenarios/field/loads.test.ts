import { rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Answer, askChat, getJson } from "../../harness/ask.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { type FarmWorker, startTestGateway } from "../../harness/gateway-farm.ts";
import { type LoadedFileFarm, startLoadedFile } from "../../harness/loaded-file.ts";
import { until } from "../../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const errorOf = ({ body }: Answer) => (JSON.parse(body) as { error: { code: string; message: string } }).error;

/** Words that `/catalog` has for the models, in their order. */
const states = async (farm: LoadedFileFarm) => (await farm.catalog()).models.map(({ state }) => state).join(" ");

describe("cold models that are asked for at once", () => {
  it("all wait for their turn", async () => {
    const farm = await startLoadedFile(cleanup, ["a", "b", "c"], { swapMs: 50 });
    const answers = await Promise.all(["a", "b", "c"].map((model) => askChat(farm.url, model).answer));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("are told 503 and when to come again where the queue is full, never 500", async () => {
    const farm = await startLoadedFile(cleanup, ["a", "b", "c"], { swapMs: 100, queue: { maxDepth: 4 } });
    const models = Array.from({ length: 12 }, (_, i) => ["a", "b", "c"][i % 3] ?? "a");
    const answers = await Promise.all(models.map((model) => askChat(farm.url, model).answer));
    const served = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(served.length).toBeGreaterThanOrEqual(4);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expect([answer.status, errorOf(answer).code]).toEqual([503, "queue_full"]);
      expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    }
  });
});

describe("the state of a model", () => {
  it("is absent, cold, loading, warm, cold again after an intended unload, and failed only after a failure", async () => {
    const farm = await startLoadedFile(cleanup, ["a", "b"], {
      first: 'while [ -f hold ]; do sleep 0.02; done; if [ "$1" = b ]; then echo "no memory" >&2; exit 1; fi',
      swap: { unload: true },
    });
    const gateway = await startTestGateway(cleanup, { box: farm.url });
    const seen = async (word: string) => {
      expect(await states(farm)).toBe(word);
      await until(async () => {
        const [box] = await gateway.farm();
        return box?.models.map(({ state }) => state).join(" ") === word;
      }, `the gateway tells ${word}`);
    };
    expect(errorOf(await askChat(gateway.url, "absent").answer).code).toBe("model_not_found");
    await seen("cold cold");
    await writeFile(join(farm.folder, "hold"), "");
    const first = askChat(gateway.url, "a");
    await until(async () => (await farm.health()).queue_depth === 1, "a is asked for");
    await seen("loading cold");
    await rm(join(farm.folder, "hold"));
    expect((await first.answer).status).toBe(200);
    await seen("warm cold");
    expect((await fetch(`${farm.url}/models/a/unload`, { method: "POST" })).ok).toBe(true);
    await until(async () => (await states(farm)) === "cold cold", "a is unloaded");
    await seen("cold cold");
    expect(errorOf(await askChat(gateway.url, "b").answer)).toMatchObject({ code: "load_failed" });
    await seen("cold failed");
    await fetch(`${farm.url}/drain`, { method: "POST" });
    await until(async () => (await gateway.farm())[0]?.state === "draining", "the gateway tells that it drains");
  });
});

describe("an engine that lists its model before the weights are in", () => {
  /** Its list is good at once; a chat is 503 until so many milliseconds after the first one. */
  const loadsFor = (ms: number) => {
    let firstAt = 0;
    return (path: string, response: ServerResponse): boolean => {
      if (path === "/v1/models") {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ object: "list", data: [{ id: "a", object: "model" }] }));
        return true;
      }
      if (firstAt === 0) firstAt = performance.now();
      if (performance.now() - firstAt > ms) {
        response.writeHead(200, { "content-type": "text/event-stream" }).end("data: [DONE]\n\n");
        return true;
      }
      const error = { code: 503, message: "Loading model", type: "unavailable_error" };
      response.writeHead(503, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify({ error }));
      return true;
    };
  };

  it.each(["models", "generate"])("is waited for, with ready: %s, and costs its worker nothing", async (ready) => {
    const farm = await startLoadedFile(cleanup, ["a"], { answers: loadsFor(1_500), model: { ready } });
    const { url, farm: workers } = await startTestGateway(cleanup, { box: farm.url });
    const answers = await Promise.all([1, 2, 3].map(() => askChat(url, "a").answer));
    expect(answers.map(({ status, body }) => [status, body.endsWith("data: [DONE]\n\n")])).toEqual(
      answers.map(() => [200, true]),
    );
    expect((await workers())[0]).toMatchObject({ state: "healthy", models: [{ id: "a", state: "warm" }] });
    expect(await (await fetch(`${url}/metrics`)).text()).not.toMatch(/farmgate_breaker_open\{.*\} 1/);
  });

  it("is waited for no longer than a load may take", async () => {
    const farm = await startLoadedFile(cleanup, ["a"], {
      answers: loadsFor(60_000),
      model: { ready: "models", timeout: "1s" },
    });
    const answer = await askChat(farm.url, "a").answer;
    expect([answer.status, errorOf(answer).message]).toEqual([503, "Loading model"]);
    expect((await farm.health()).inflight).toBe(0);
  });

  it("is asked no more once its caller has left", async () => {
    const farm = await startLoadedFile(cleanup, ["a"], { answers: loadsFor(60_000), model: { ready: "models" } });
    const asked = askChat(farm.url, "a");
    await until(async () => (await farm.health()).inflight === 1, "it is granted");
    asked.leave();
    await until(() => farm.lines().some(({ status }) => status === 499), "it is told as 499");
    expect(await farm.health()).toMatchObject({ inflight: 0, queue_depth: 0 });
  });
});

describe("a first load that fails", () => {
  it("by its time-out does not keep the second from being tried", async () => {
    const farm = await startLoadedFile(cleanup, ["a"], {
      first: "if [ ! -f tried ]; then : > tried; exec sleep 60; fi",
      model: { timeout: "500ms" },
    });
    const first = await askChat(farm.url, "a").answer;
    expect([first.status, errorOf(first).code]).toEqual([503, "load_failed"]);
    expect((await askChat(farm.url, "a").answer).status).toBe(200);
    expect(await states(farm)).toBe("warm");
  });

  it("counts once, is told to all who waited with the script's own words, and the next request tries again", async () => {
    const farm = await startLoadedFile(cleanup, ["a"], {
      first: "if [ ! -f tried ]; then : > tried; sleep 0.3; echo 'CUDA error: out of memory' >&2; exit 1; fi",
    });
    const told = await Promise.all([1, 2, 3].map(() => askChat(farm.url, "a").answer));
    for (const answer of told) {
      expect([answer.status, errorOf(answer).code]).toEqual([503, "load_failed"]);
      expect(errorOf(answer).message).toContain("CUDA error: out of memory");
    }
    expect(await states(farm)).toBe("failed");
    expect((await askChat(farm.url, "a").answer).status).toBe(200);
    const metrics = await farm.metrics();
    expect(metrics).toContain('farmgate_agent_swaps_total{from="none",to="a",result="failed"} 1');
    expect(metrics).toContain('farmgate_agent_swaps_total{from="none",to="a",result="ok"} 1');
  });
});

describe("the state that others see", () => {
  it("is what is so, not what was told last: a slow reader and rare polls do not hold it back", async () => {
    const farm = await startLoadedFile(cleanup, ["a"], { swapMs: 200, answerMs: 50 });
    const { url } = await startTestGateway(cleanup, { box: farm.url }, { health: { interval: "10m", timeout: "1s" } });
    const stalled = await fetch(`${url}/farm/workers`);
    const told = () => getJson<{ workers: FarmWorker[] }>(`${url}/farm/workers`);
    expect((await told()).workers[0]?.models).toMatchObject([{ id: "a", state: "cold" }]);
    expect((await askChat(url, "a").answer).status).toBe(200);
    expect(await states(farm)).toBe("warm");
    expect((await told()).workers[0]?.models).toMatchObject([{ id: "a", state: "warm" }]);
    await stalled.body?.cancel();
  });
});
