import { connect, type Socket } from "node:net";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { type LiveRequest, LiveRequests } from "../../src/proxy/live-requests.ts";
import { cleanup } from "../support/cleanup.ts";
import { fakeWorker, hangs } from "../support/fake-worker.ts";
import { agents, chat, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as (options?: { type: "minor" }) => void;

function heldBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

describe("a long prompt", () => {
  it("is let go once its answer has begun, however long that runs", async () => {
    const streams = 20;
    const size = 1_024 * 1_024;
    const worker = await fakeWorker({ m: "warm" }, ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
    });
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const body = Buffer.from(JSON.stringify({ model: "M", messages: [{ role: "user", content: "x".repeat(size) }] }));
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`;
    const before = heldBytes();
    let answers = 0;
    const sockets: Socket[] = [];
    for (let i = 0; i < streams; i += 1) {
      const socket = connect(gateway.port, "127.0.0.1");
      socket.on("error", () => {});
      socket.once("data", () => {
        answers += 1;
      });
      socket.write(head);
      socket.write(body);
      sockets.push(socket);
    }
    cleanup(() => {
      for (const socket of sockets) socket.destroy();
    });
    await until("every answer has begun", () => answers === streams);
    expect(worker.asked.map((asked) => asked.body.length)).toEqual(Array(streams).fill(body.length));
    let held = 0;
    await until("the prompts are collected", () => {
      held = heldBytes() - before;
      return held < (streams * size) / 4;
    });
    expect(held).toBeLessThan((streams * size) / 4);
  });

  it("is counted until its answer begins, or its caller leaves", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const counted = async () =>
      Number(/^farmgate_body_bytes (\d+)$/m.exec(await (await fetch(`${gateway.url}/metrics`)).text())?.[1]);
    const body = JSON.stringify({ model: "m", messages: [] });
    const leaver = new AbortController();
    const left = chat(gateway, body, { signal: leaver.signal }).catch(() => null);
    const stream = chat(gateway, body);
    await until("both are asked", () => worker.asked.length === 2);
    expect(await counted()).toBe(2 * body.length);
    leaver.abort();
    await left;
    await until("one is given up", async () => (await counted()) === body.length);
    const { response } = worker.request(worker.asked.findIndex(({ closed }) => !closed));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
    const answer = await stream;
    expect(await counted()).toBe(0);
    response.end();
    await answer.text();
  });
});

describe("a request that has ended", () => {
  it("is let go by the next small collection, not only by the next full one", () => {
    const live = new LiveRequests();
    const text = JSON.stringify({ id: "", held: Array.from({ length: 1_000 }, (_, i) => i) });
    const underWay = Array.from<LiveRequest | null>({ length: 16 }).fill(null);
    const pass = (n: number) => {
      // Parsed, since what a function makes itself is put among the old things once most of it gets old.
      const request = JSON.parse(text.replace('"id":""', `"id":"r${n}"`)) as LiveRequest;
      live.enter(request);
      const ended = underWay[n % 16];
      underWay[n % 16] = request;
      if (ended) live.leave(ended);
    };
    const old = () =>
      getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0;
    const passMany = (from: number, to: number) => {
      for (let n = from; n < to; n += 1) {
        pass(n);
        if (n % 400 === 0) collectGarbage({ type: "minor" });
      }
    };
    // A quiet hour: what the first ones stood in gets old.
    passMany(0, 20);
    for (let i = 0; i < 4; i += 1) collectGarbage({ type: "minor" });
    const before = old();
    passMany(20, 8_020);
    // All of them together are 64 MB.
    expect(old() - before).toBeLessThan(16_000_000);
  });
});
