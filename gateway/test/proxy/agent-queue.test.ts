import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Asked, completes, fakeWorker, hangs } from "../support/fake-worker.ts";
import { agents, chat, errorOf, runGateway } from "../support/gateway.ts";

const SHORT = { timeouts: { firstByte: "1s" } };

/** Waits in its queue for more than the time for the first byte, and says so. */
async function queues(asked: Asked): Promise<void> {
  for (let i = 0; i < 15; i += 1) {
    asked.response.writeProcessing();
    await pause(100);
  }
  await completes()(asked);
}

describe("the time for the first byte", () => {
  it("does not run while a request waits in an agent's queue", async () => {
    const worker = await fakeWorker({ m: "warm" }, queues);
    const gateway = await runGateway({ ...SHORT, workers: agents({ a: worker }) });
    expect((await chat(gateway)).status).toBe(200);
  });

  it("runs for an agent that says nothing", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ ...SHORT, workers: agents({ a: worker }) });
    expect(await errorOf(await chat(gateway))).toMatchObject({ status: 504, code: "timeout_first_byte" });
  });

  it("runs for an agent that was heard of and then hangs", async () => {
    const worker = await fakeWorker({ m: "warm" }, ({ response }) => response.writeProcessing());
    const gateway = await runGateway({ ...SHORT, workers: agents({ a: worker }) });
    expect(await errorOf(await chat(gateway))).toMatchObject({ status: 504, code: "timeout_first_byte" });
  });

  it("runs for an engine, whatever it says meanwhile", async () => {
    const worker = await fakeWorker({ m: "warm" }, queues);
    const gateway = await runGateway({ ...SHORT, workers: [{ name: "a", url: worker.url, engine: "openai" }] });
    expect(await errorOf(await chat(gateway))).toMatchObject({ status: 504, code: "timeout_first_byte" });
  });

  it("ends with the caller's own deadline, however often the agent says that it waits", async () => {
    const worker = await fakeWorker({ m: "warm" }, queues);
    const gateway = await runGateway({ ...SHORT, workers: agents({ a: worker }) });
    const response = await chat(gateway, {}, { headers: { "x-farmgate-deadline-ms": "500" } });
    expect(await errorOf(response)).toMatchObject({ status: 503, code: "deadline" });
  });
});
