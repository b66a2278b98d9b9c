import { describe, expect, it } from "vitest";
import { completes, fakeWorker, hangs } from "../support/fake-worker.ts";
import { agents, chat, errorOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

describe("a worker at its cap", () => {
  it("lets the others wait, and they go in order of arrival", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }, { maxConcurrent: 2 }) });
    const answers: Promise<Response>[] = [];
    for (let i = 0; i < 5; i += 1) {
      answers.push(chat(gateway, { messages: [{ role: "user", content: `n${i}` }] }));
      await until(`request ${i} is in`, async () => {
        const answer = (await (await fetch(`${gateway.url}/farm/requests`)).json()) as { requests: unknown[] };
        return answer.requests.length === i + 1;
      });
    }
    await until("two are at the worker", () => worker.asked.length === 2);
    for (let i = 0; i < 5; i += 1) {
      await until(`request ${i} reaches the worker`, () => worker.asked.length > i);
      expect(worker.asked[i]?.body).toContain(`n${i}`);
      expect(worker.asked.filter(({ response }) => !response.writableEnded).length).toBeLessThanOrEqual(2);
      await completes()(worker.request(i));
    }
    for (const answer of answers) expect((await answer).status).toBe(200);
  });

  it("is left alone for a cold one: warm capacity is waited for", async () => {
    const warm = await fakeWorker({ m: "warm" }, hangs);
    const cold = await fakeWorker({ m: "cold" });
    const gateway = await runGateway({ workers: agents({ warm, cold }, { maxConcurrent: 1 }) });
    const first = chat(gateway);
    await until("it is asked", () => warm.asked.length === 1);
    const second = chat(gateway);
    await until("one waits", async () =>
      (await (await fetch(`${gateway.url}/metrics`)).text()).includes("farmgate_queue_depth 1"),
    );
    await completes()(warm.request(0));
    expect((await first).status).toBe(200);
    await until("it is asked again", () => warm.asked.length === 2);
    await completes()(warm.request(1));
    expect((await second).status).toBe(200);
    expect(cold.asked).toHaveLength(0);
  });

  it("lets a request for any worker pass one that was meant for another worker's copy", async () => {
    const [a, b] = [await fakeWorker({ m: "warm" }, hangs), await fakeWorker({ m: "warm" }, hangs)];
    const gateway = await runGateway({ workers: agents({ a, b }, { maxConcurrent: 1 }) });
    const waiting = (count: number) => async () =>
      (await (await fetch(`${gateway.url}/metrics`)).text()).includes(`farmgate_queue_depth ${count}`);
    const first = [chat(gateway, { model: "m@a" }), chat(gateway, { model: "m@b" })];
    await until("both are full", () => a.asked.length + b.asked.length === 2);
    const meant = chat(gateway, { model: "m@a" });
    await until("one waits", waiting(1));
    const any = chat(gateway);
    await until("two wait", waiting(2));
    await completes()(b.request(0));
    await until("the other worker is asked", () => b.asked.length === 2);
    expect(a.asked).toHaveLength(1);
    for (const [worker, n] of [
      [b, 1],
      [a, 0],
    ] as const)
      await completes()(worker.request(n));
    await until("the one that was meant for it is asked", () => a.asked.length === 2);
    await completes()(a.request(1));
    for (const answer of [...first, meant, any]) expect((await answer).status).toBe(200);
  });

  it("is given up after queueWait", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({
      workers: agents({ a: worker }, { maxConcurrent: 1 }),
      limits: { queueWait: "100ms" },
    });
    void chat(gateway).catch(() => {});
    await until("one is there", () => worker.asked.length === 1);
    expect(await errorOf(await chat(gateway))).toMatchObject({ status: 504, code: "timeout_queue" });
  });

  it("is given up when the request's own deadline passes first", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }, { maxConcurrent: 1 }) });
    void chat(gateway).catch(() => {});
    await until("one is there", () => worker.asked.length === 1);
    const response = await chat(gateway, {}, { headers: { "x-farmgate-deadline-ms": "100" } });
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(await errorOf(response)).toMatchObject({ status: 503, code: "deadline" });
  });

  it("turns away who finds no room to wait, and says when to come again", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    for (const limits of [{ queue: 0 }, { queueBytes: "10b" }]) {
      const gateway = await runGateway({ workers: agents({ a: worker }, { maxConcurrent: 1 }), limits });
      const before = worker.asked.length;
      void chat(gateway).catch(() => {});
      await until("one is there", () => worker.asked.length === before + 1);
      const response = await chat(gateway);
      expect(response.headers.get("retry-after")).not.toBeNull();
      expect(await errorOf(response)).toMatchObject({ status: 503, code: "queue_full" });
    }
  });
});

describe("a deadline for the first byte", () => {
  it("ends a worker's silence with 503, not 504", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const response = await chat(gateway, {}, { headers: { "x-farmgate-deadline-ms": "100" } });
    expect(await errorOf(response)).toMatchObject({ status: 503, code: "deadline" });
    await until("the worker sees the close", () => worker.asked.every(({ closed }) => closed));
  });

  it("that has passed already asks nobody", async () => {
    const worker = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const response = await chat(gateway, {}, { headers: { "x-farmgate-deadline-ms": "0" } });
    expect(await errorOf(response)).toMatchObject({ status: 503, code: "deadline" });
    expect(worker.asked).toEqual([]);
  });

  it("does not end an answer that has begun", async () => {
    const worker = await fakeWorker({ m: "warm" }, ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
      setTimeout(() => response.end("data: [DONE]\n\n"), 200);
    });
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const response = await chat(gateway, { stream: true }, { headers: { "x-farmgate-deadline-ms": "100" } });
    expect(await response.text()).toBe("data: 1\n\ndata: [DONE]\n\n");
  });
});
