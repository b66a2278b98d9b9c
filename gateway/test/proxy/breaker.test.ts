import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { type Answer, type Asked, completes, fakeWorker, hangs, refuses, resets } from "../support/fake-worker.ts";
import { agents, chat, errorOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const modelOf = ({ body }: Asked): string => (JSON.parse(body) as { model: string }).model;

/** Answers m as told, and every other model at once. */
const only =
  (answer: Answer): Answer =>
  (asked) =>
    modelOf(asked) === "m" ? answer(asked) : completes()(asked);

/** One warm worker that answers m as told, and one that must load it. */
async function pair(answer: Answer, more: Record<string, unknown> = {}) {
  const bad = await fakeWorker({ m: "warm", n: "warm" }, only(answer));
  const good = await fakeWorker({ m: "cold" }, completes("from good"));
  const gateway = await runGateway({ workers: agents({ bad, good }), ...more });
  return { bad, good, gateway };
}

async function worker(gateway: RunningGateway): Promise<{ state: string; problem: string | null }> {
  const { workers } = (await (await fetch(`${gateway.url}/farm/workers`)).json()) as {
    workers: { state: string; problem: string | null }[];
  };
  return workers[0] ?? { state: "none", problem: null };
}

const answeredBy = (response: Response) => response.headers.get("x-farmgate-worker");

describe("a model that never answers, on a worker whose catalogue is fine", () => {
  it("is put aside there after three first-byte time-outs, and its other models go on", async () => {
    const { bad, gateway } = await pair(hangs, { timeouts: { firstByte: "400ms" } });
    for (let i = 0; i < 3; i += 1) expect((await errorOf(await chat(gateway))).code).toBe("timeout_first_byte");
    const next = await chat(gateway);
    expect([next.status, answeredBy(next), next.headers.get("x-farmgate-attempts")]).toEqual([200, "good", "1"]);
    expect(bad.asked).toHaveLength(3);
    const other = await chat(gateway, { model: "n" });
    expect([other.status, answeredBy(other)]).toEqual([200, "bad"]);
    expect(await worker(gateway)).toMatchObject({
      state: "degraded",
      problem: expect.stringMatching(
        /^breaker open for m: 3 requests in a row failed there \(no answer in time\), next trial in (30|29) s$/,
      ) as unknown,
    });
    expect(((await (await fetch(`${gateway.url}/health`)).json()) as { status: string }).status).toBe("degraded");
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain('farmgate_breaker_open{worker="bad",model="m"} 1');
  });

  it("is put aside likewise where it begins its streams and then says no more", async () => {
    const begins: Answer = ({ response }) =>
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    const { gateway } = await pair(begins, { timeouts: { idle: "100ms" } });
    for (let i = 0; i < 3; i += 1) expect(await (await chat(gateway)).text()).toContain("timeout_idle");
    expect(answeredBy(await chat(gateway))).toBe("good");
    expect((await worker(gateway)).state).toBe("degraded");
  });
});

describe("a model that always fails, on a worker whose catalogue is fine", () => {
  it.each<[string, Answer]>([
    ["answers 500", refuses(500, { error: { message: "boom" } })],
    ["breaks the connection", resets],
    [
      "breaks off each answer",
      ({ response, request }) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
        response.flushHeaders();
        setImmediate(() => request.socket.resetAndDestroy());
      },
    ],
  ])("when it %s is told as a degraded worker, and costs no caller a try any more", async (_, answer) => {
    const { bad, gateway } = await pair(answer);
    for (let i = 0; i < 6; i += 1) expect(answeredBy(await chat(gateway))).toBe("good");
    expect(bad.asked).toHaveLength(3);
    expect(await worker(gateway)).toMatchObject({ state: "degraded" });
  });

  it("when it breaks streams off in the middle is put aside likewise", async () => {
    const { bad, gateway } = await pair(({ response, request }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: {}\n\n");
      setTimeout(() => request.socket.resetAndDestroy(), 5);
    });
    for (let i = 0; i < 3; i += 1) expect(await (await chat(gateway)).text()).toContain("worker_failed");
    expect(answeredBy(await chat(gateway))).toBe("good");
    expect(bad.asked).toHaveLength(3);
    expect((await worker(gateway)).problem).toContain("an answer broke off");
  });

  it("when half of its answers fail is put aside, and costs few callers a try any more", async () => {
    const { bad, gateway } = await pair(() => {});
    bad.answer = (asked) => (bad.asked.length % 2 === 1 ? refuses(500, {}) : completes())(asked);
    await until("it is put aside", async () => {
      expect((await chat(gateway)).status).toBe(200);
      return (await worker(gateway)).state === "degraded";
    });
    expect((await worker(gateway)).problem).toContain("breaker open for m: 6 of the last 11 requests failed there");
    expect(bad.asked).toHaveLength(11);
  });

  it("is still asked when no other worker has it, and is in order again with its first good answer", async () => {
    const alone = await fakeWorker({ m: "warm" }, refuses(500, {}));
    const gateway = await runGateway({ workers: agents({ alone }) });
    for (let i = 0; i < 4; i += 1) expect((await errorOf(await chat(gateway))).code).toBe("worker_failed");
    expect(alone.asked).toHaveLength(4);
    alone.answer = completes();
    expect((await chat(gateway)).status).toBe(200);
    await until("it is healthy", async () => (await worker(gateway)).state === "healthy");
  });
});

describe("no breaker opens", () => {
  const stays: [string, Answer, number][] = [
    ["twenty prompts that are too long", refuses(400, { error: { message: "context length exceeded" } }), 400],
    ["a worker that is full", refuses(429, {}, { "retry-after": "1" }), 200],
    ["a model that is loading", refuses(503, { error: { message: "Loading model" } }), 200],
    ["loads that fail", refuses(503, { error: { message: "no memory", code: "load_failed" } }), 200],
  ];
  it.each(stays)("for %s", async (_, answer, status) => {
    const { bad, gateway } = await pair(answer);
    for (let i = 0; i < 20; i += 1) expect((await chat(gateway)).status).toBe(status);
    expect((await worker(gateway)).state).toBe("healthy");
    bad.answer = completes();
    expect(answeredBy(await chat(gateway))).toBe("bad");
  });

  it("for callers who leave, or whose own deadline passes", async () => {
    const { gateway } = await pair(hangs);
    for (let i = 0; i < 4; i += 1) {
      const late = await chat(gateway, {}, { headers: { "x-farmgate-deadline-ms": "50" } });
      expect(late.status).toBeGreaterThanOrEqual(500);
      await expect(chat(gateway, {}, { signal: AbortSignal.timeout(50) })).rejects.toThrow("aborted");
    }
    expect((await worker(gateway)).state).toBe("healthy");
  });
});
