import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { type Answer, fakeWorker, hangs } from "../support/fake-worker.ts";
import { agents, chat, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const streams: Answer = ({ response }) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write("data: 1\n\n");
};

interface FarmWorkers {
  workers: { inflight: number }[];
}

async function inflight(gateway: RunningGateway): Promise<number | undefined> {
  const { workers } = (await (await fetch(`${gateway.url}/farm/workers`)).json()) as FarmWorkers;
  return workers[0]?.inflight;
}

const counted = async (gateway: RunningGateway) =>
  (await (await fetch(`${gateway.url}/metrics`)).text()).includes(
    'farmgate_requests_total{api="chat",model="m",worker="a",status="499",warmth="warm"} 1',
  );

/** A caller who has left a worker that is read on, before or behind the head of its answer. */
async function abandoned(drainOnAbort: object, answer = streams, config: object = {}) {
  const worker = await fakeWorker({ m: "warm" }, answer);
  const gateway = await runGateway({ workers: agents({ a: worker }, { maxConcurrent: 1, drainOnAbort }), ...config });
  const leaver = new AbortController();
  const init = { signal: leaver.signal, headers: { "x-request-id": "left-1" } };
  const response = chat(gateway, { stream: true }, init);
  response.catch(() => {});
  await until("it is asked", () => worker.asked.length === 1);
  if (answer === streams) await response;
  leaver.abort();
  return { worker, gateway, got: worker.request(0) };
}

describe("a worker that a broken connection hurts", () => {
  it.each([
    ["before its answer has begun", hangs],
    ["in the middle of its answer", streams],
  ])("is read to its end when the caller leaves %s, and its place stays taken", async (_when, answer) => {
    const { worker, gateway, got } = await abandoned({ time: "60s" }, answer);
    const next = chat(gateway, { stream: true });
    await until("the next one waits", async () =>
      (await (await fetch(`${gateway.url}/metrics`)).text()).includes("farmgate_queue_depth 1"),
    );
    expect(await inflight(gateway)).toBe(1);
    expect(await counted(gateway)).toBe(false);
    got.response.write("data: 2\n\n");
    got.response.end("data: [DONE]\n\n");
    await until("the next one is asked for", () => worker.asked.length === 2);
    expect(got.closed).toBe(false);
    await until("the one that left is counted as 499", () => counted(gateway));
    worker.request(1).response.end();
    await next;
  });

  it("is read on no longer than its limit of time", async () => {
    const { gateway, got } = await abandoned({ time: "150ms" });
    await until("the worker sees the close", () => got.closed);
    await until("it is counted as 499", () => counted(gateway));
    expect(await inflight(gateway)).toBe(0);
  });

  it("is read on no longer than its limit of bytes", async () => {
    const { gateway, got } = await abandoned({ bytes: "1kb" });
    got.response.write("x".repeat(500));
    await inflight(gateway);
    expect(got.closed).toBe(false);
    got.response.write("x".repeat(2_000));
    await until("the worker sees the close", () => got.closed);
    await until("it is counted as 499", () => counted(gateway));
    expect(await inflight(gateway)).toBe(0);
  });

  it("is closed at once when an operator cancels what is read on", async () => {
    const { gateway, got } = await abandoned({ time: "1h" });
    await inflight(gateway);
    expect(got.closed).toBe(false);
    await fetch(`${gateway.url}/farm/requests/left-1`, { method: "DELETE" });
    await until("the worker sees the close", () => got.closed);
    await until("it is counted as 499", () => counted(gateway));
  });

  it("does not hold up a gateway that stops", async () => {
    const { gateway, got } = await abandoned({ time: "1h" });
    await gateway.close();
    await until("the worker sees the close", () => got.closed);
    expect(got.response.writableEnded).toBe(false);
  });

  it("is not asked again when it breaks off", async () => {
    const { worker, gateway, got } = await abandoned({ time: "1h" }, hangs);
    got.request.socket.resetAndDestroy();
    await until("it is counted as 499", () => counted(gateway));
    expect(worker.asked).toHaveLength(1);
  });
});

describe("any other worker", () => {
  it("is closed at once", async () => {
    const { gateway, got } = await abandoned({});
    await until("the worker sees the close", () => got.closed);
    await until("it is counted as 499", () => counted(gateway));
    expect(await inflight(gateway)).toBe(0);
  });
});
