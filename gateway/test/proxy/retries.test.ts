import { describe, expect, it } from "vitest";
import { type Answer, completes, fakeWorker, hangs, refuses } from "../support/fake-worker.ts";
import { agents, chat, errorOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const three = (answer: Answer) => Promise.all(["a", "b", "c"].map(() => fakeWorker({ m: "warm" }, answer)));

describe("retries over the whole farm", () => {
  it("lose none of 200 requests when one of three workers dies with its share of them", async () => {
    const workers = await three(hangs);
    const [a, b, c] = workers as [(typeof workers)[0], (typeof workers)[0], (typeof workers)[0]];
    const gateway = await runGateway({ workers: agents({ a, b, c }), health: { interval: "60s", timeout: "1s" } });
    const waiting = Array.from({ length: 200 }, () => chat(gateway));
    const asked = () => a.asked.length + b.asked.length + c.asked.length;
    await until("all are at the workers", () => asked() === 200);
    const moved = a.asked.length;
    a.close();
    await until("those of the dead one are elsewhere", () => asked() === 200 + moved);
    for (const { asked: requests } of [b, c]) for (const request of requests) void completes()(request);
    const answers = await Promise.all(waiting);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(moved).toBeGreaterThan(60);
  });

  it("are a fifth of the requests and a reserve where all workers fail, and the failure is told with its code", async () => {
    const workers = await three(refuses(500, { error: { message: "boom" } }));
    const [a, b, c] = workers as [(typeof workers)[0], (typeof workers)[0], (typeof workers)[0]];
    const gateway = await runGateway({ workers: agents({ a, b, c }), health: { interval: "60s", timeout: "1s" } });
    const last = [];
    for (let i = 0; i < 30; i += 1) last.push(...(await Promise.all(Array.from({ length: 10 }, () => chat(gateway)))));
    const asked = workers.reduce((sum, worker) => sum + worker.asked.length, 0);
    expect(asked).toBeGreaterThan(300 + 100);
    expect(asked).toBeLessThanOrEqual(300 + 0.2 * 300 + 100);
    const refused = last.at(-1) as Response;
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const error = await errorOf(refused);
    expect(error).toMatchObject({ status: 502, code: "worker_failed" });
    expect(error.message).toMatch(
      /answered 500.*No further worker was asked, since too many requests are being retried/,
    );
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(Number(/farmgate_retries_refused_total (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(100);
  });

  it("leave out what is no failure: busy, loading and unknown models move on as before", async () => {
    const busy = await fakeWorker({ m: "warm" }, refuses(429, {}));
    const good = await fakeWorker({ m: "cold" }, completes());
    const gateway = await runGateway({ workers: agents({ busy, good }), retry: { budget: 0 } });
    for (let i = 0; i < 30; i += 1) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => chat(gateway)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    }
    expect(busy.asked.length).toBeGreaterThan(110);
  });
});
