import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { type Answer, completes, fakeWorker, hangs, refuses, resets } from "../support/fake-worker.ts";
import { agents, chat, errorOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { cleanup } from "../support/cleanup.ts";

/** Two warm workers; the first answers as told and is always asked first, as round-robin starts there. */
async function pair(first: Answer, more: Record<string, unknown> = {}) {
  const bad = await fakeWorker({ m: "warm" }, first);
  const good = await fakeWorker({ m: "cold" }, completes("from good"));
  const gateway = await runGateway({ workers: agents({ bad, good }), ...more });
  return { bad, good, gateway };
}

/** Addresses where nothing listens any more. */
async function machinesOff(count: number): Promise<Record<string, { url: string }>> {
  const workers = await Promise.all(Array.from({ length: count }, () => fakeWorker({ m: "warm" })));
  for (const worker of workers) worker.close();
  return Object.fromEntries(workers.map(({ url }, i) => [`off-${i}`, { url }]));
}

describe("before the first byte the next worker is asked", () => {
  const cases: [string, Answer][] = [
    ["resets the connection", resets],
    ["answers 500", refuses(500, { error: { message: "boom" } })],
    ["is loading", refuses(503, { error: { message: "Loading model", code: 503 } })],
    ["is busy", refuses(429, { error: { message: "slow down" } }, { "retry-after": "7" })],
    ["does not know the model", refuses(404, { error: { message: "model 'm' not found" } })],
    ["redirects", refuses(307, "", { location: "http://127.0.0.1:1/" })],
  ];
  it.each(cases)("when one %s", async (_name, answer) => {
    const { bad, good, gateway } = await pair(answer);
    const response = await chat(gateway);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-farmgate-worker")).toBe("good");
    expect(response.headers.get("x-farmgate-attempts")).toBe("2");
    expect(bad.asked).toHaveLength(1);
    expect(good.asked).toHaveLength(1);
  });

  it("when one refuses the connection", async () => {
    const { bad, gateway } = await pair(completes(), { health: { interval: "60s", timeout: "1s" } });
    expect((await chat(gateway)).headers.get("x-farmgate-worker")).toBe("bad");
    bad.close();
    expect((await chat(gateway)).headers.get("x-farmgate-worker")).toBe("good");
  });

  it("when more than retry.attempts refuse the connection, the machine that can load the model is still asked", async () => {
    const good = await fakeWorker({ m: "cold" }, completes("from good"));
    const off = await machinesOff(5);
    const gateway = await runGateway({ workers: agents({ ...off, good }), health: { interval: "60s", timeout: "1s" } });
    const response = await chat(gateway);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-farmgate-worker")).toBe("good");
    expect(response.headers.get("x-farmgate-attempts")).toBe("6");
  });

  it("when an answer of JSON breaks before its first bytes", async () => {
    const { gateway } = await pair(({ response, request }) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
      response.flushHeaders();
      setImmediate(() => request.socket.resetAndDestroy());
    });
    const response = await chat(gateway);
    expect(response.headers.get("x-farmgate-worker")).toBe("good");
    expect(response.status).toBe(200);
  });
});

describe("an error answer that does not end", () => {
  const page = "x".repeat(200 * 1_024);
  const sendsOnAndOn =
    (piece: string): Answer =>
    ({ response }) => {
      response.writeHead(500);
      const timer = setInterval(() => response.write(piece), 5);
      response.on("close", () => clearInterval(timer));
    };
  const cases: [string, Answer][] = [
    ["is longer than any reason", refuses(500, page)],
    ["goes on and on", sendsOnAndOn(page)],
    ["trickles", sendsOnAndOn(".")],
    ["has a head alone", ({ response }) => response.writeHead(503).flushHeaders()],
  ];
  it.each(cases)("that %s is left, and the next worker asked", async (_name, answer) => {
    const { bad, gateway } = await pair(answer, { timeouts: { idle: "200ms" } });
    const response = await chat(gateway);
    expect(response.headers.get("x-farmgate-worker")).toBe("good");
    await until("the connection of the left answer is closed", () => bad.request(0).response.destroyed);
  });

  it("is passed on whole when it is the caller's own fault", async () => {
    const { good, gateway } = await pair(refuses(400, page));
    const response = await chat(gateway);
    expect(response.status).toBe(400);
    expect(await response.text()).toBe(page);
    expect(good.asked).toHaveLength(0);
  });
});

describe("when no worker answers", () => {
  it("tells each worker and how far it came", async () => {
    const a = await fakeWorker({ m: "warm" }, refuses(500, { error: { message: "boom" } }));
    const b = await fakeWorker({ m: "warm" }, resets);
    const gateway = await runGateway({ workers: agents({ a, b }) });
    const error = await errorOf(await chat(gateway));
    expect(error).toMatchObject({ status: 502, code: "worker_failed" });
    expect(error.message).toMatch(/a: answered 500/);
    expect(error.message).toMatch(/b: reset before the first byte/);
  });

  it("asks each of many machines that are switched off once, and then says so", async () => {
    const off = await machinesOff(8);
    const gateway = await runGateway({ workers: agents(off), health: { interval: "60s", timeout: "1s" } });
    const error = await errorOf(await chat(gateway));
    expect(error).toMatchObject({ status: 502, code: "worker_failed" });
    for (const name of Object.keys(off))
      expect(error.message.split(`${name}: refused while connecting`)).toHaveLength(2);
  });

  it("tells why the model could not be loaded, in the worker's own words", async () => {
    const reason = "loading m failed: swap.sh exited with 1: CUDA out of memory";
    const a = await fakeWorker({ m: "cold" }, refuses(503, { error: { message: reason, code: "load_failed" } }));
    const gateway = await runGateway({ workers: agents({ a }) });
    const error = await errorOf(await chat(gateway));
    expect(error).toMatchObject({ status: 503, code: "load_failed" });
    expect(error.message).toContain(reason);
  });

  it("tells a load that failed as such before it is known that the worker is an agent", async () => {
    const failed = { error: { message: "no memory", code: "load_failed" } };
    const a = await fakeWorker({ m: "cold" }, refuses(503, failed));
    a.catalogStatus = 500;
    const gateway = await runGateway({ workers: [{ name: "a", url: a.url }] });
    expect(await errorOf(await chat(gateway))).toMatchObject({ status: 503, code: "load_failed" });
  });

  it("is 501 when all say that they do not offer this", async () => {
    const a = await fakeWorker({ m: "warm" }, refuses(501, { error: { message: "embeddings are switched off" } }));
    const gateway = await runGateway({ workers: agents({ a }) });
    expect(await errorOf(await chat(gateway))).toMatchObject({ status: 501, code: "not_supported" });
  });

  it("stops after as many failed workers as retry.attempts says", async () => {
    const workers = await Promise.all(["a", "b", "c"].map(() => fakeWorker({ m: "warm" }, resets)));
    const [a, b, c] = workers as [never, never, never];
    const gateway = await runGateway({ workers: agents({ a, b, c }), retry: { attempts: 2 } });
    expect((await errorOf(await chat(gateway))).status).toBe(502);
    expect(workers.map(({ asked }) => asked.length).reduce((sum, n) => sum + n)).toBe(2);
  });

  it("is 503 with the smallest retry-after when some are busy", async () => {
    const a = await fakeWorker({ m: "warm" }, refuses(429, {}, { "retry-after": "9" }));
    const b = await fakeWorker({ m: "warm" }, refuses(503, {}, { "retry-after": "4" }));
    const c = await fakeWorker({ m: "warm" }, resets);
    const gateway = await runGateway({ workers: agents({ a, b, c }) });
    const response = await chat(gateway);
    expect(response.headers.get("retry-after")).toBe("4");
    expect((await errorOf(response)).status).toBe(503);
  });

  it("is 404 when all say that they have no such model", async () => {
    const a = await fakeWorker({ m: "warm" }, refuses(404, { error: { message: "model 'm' not found" } }));
    const gateway = await runGateway({ workers: agents({ a }) });
    expect(await errorOf(await chat(gateway))).toMatchObject({ status: 404, code: "model_not_found" });
  });

  it("is 503 no_worker while every worker that has the model is away", async () => {
    const a = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a }), health: { interval: "20ms", timeout: "1s" } });
    expect((await chat(gateway)).status).toBe(200);
    a.close();
    await until("it counts as unhealthy", async () => (await fetch(`${gateway.url}/health`)).status === 503);
    expect(await errorOf(await chat(gateway))).toMatchObject({ status: 503, code: "no_worker" });
  });

  it("is final when the first byte took too long", async () => {
    const { good, gateway } = await pair(hangs, { timeouts: { firstByte: "150ms" } });
    expect(await errorOf(await chat(gateway))).toMatchObject({ status: 504, code: "timeout_first_byte" });
    expect(good.asked).toHaveLength(0);
  });
});

describe("the caller's own fault", () => {
  it("is passed on as it came and asks nobody else", async () => {
    const body = '{"error":{"message":"too long","type":"invalid_request_error","n":12}}';
    const { good, gateway } = await pair(refuses(400, body));
    const response = await chat(gateway);
    expect(response.status).toBe(400);
    expect(await response.text()).toBe(body);
    expect(good.asked).toHaveLength(0);
  });

  it("is passed on whole where it is longer than what is looked at", async () => {
    const body = JSON.stringify({ error: { message: "x".repeat(300_000) } });
    const { gateway } = await pair(refuses(400, body));
    expect(await (await chat(gateway)).text()).toBe(body);
  });
});

describe("after the first byte", () => {
  it("a break is told inside the stream, apart from a broken event, and the stream ends", async () => {
    for (const [begun, gap] of [
      ["data: 1\n\n", ""],
      ["data: {", "\n\n"],
    ] as const) {
      const { good, gateway } = await pair(({ response, request }) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(begun, () => setTimeout(() => request.socket.resetAndDestroy(), 20));
      });
      const response = await chat(gateway, { stream: true });
      const text = await response.text();
      expect(text.startsWith(`${begun}${gap}data: {"error":`)).toBe(true);
      expect(text).toContain('"code":"worker_failed"');
      expect(text.endsWith("\n\n")).toBe(true);
      expect(good.asked).toHaveLength(0);
    }
  });

  it("a short whole answer has none before it is complete: the next worker is asked", async () => {
    const { gateway } = await pair(({ response, request }) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"a":', () => setTimeout(() => request.socket.resetAndDestroy(), 20));
    });
    const response = await chat(gateway);
    expect(response.headers.get("x-farmgate-worker")).toBe("good");
    expect(await response.text()).toContain("from good");
  });

  it("any other body is cut off so that the truncation shows", async () => {
    const { gateway } = await pair(({ response, request }) => {
      response.writeHead(200, { "content-type": "audio/wav" });
      response.write("RIFF", () => setTimeout(() => request.socket.resetAndDestroy(), 20));
    });
    const response = await chat(gateway);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("terminated");
  });

  it("silence is told as timeout_idle", async () => {
    const { gateway } = await pair(
      ({ response }) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("data: 1\n\n");
      },
      { timeouts: { idle: "150ms" } },
    );
    expect(await (await chat(gateway, { stream: true })).text()).toContain('"code":"timeout_idle"');
  });

  it("a clean end without [DONE] is passed on as it is, and counted", async () => {
    const { gateway } = await pair(({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end("data: 1\n\n");
    });
    expect(await (await chat(gateway, { stream: true })).text()).toBe("data: 1\n\n");
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain('farmgate_streams_truncated_total{worker="bad"} 1');
  });
});

describe("a kept connection that the worker has just closed", () => {
  it("is tried once more on a fresh one, without counting as a failure", async () => {
    let connections = 0;
    let requests = 0;
    const server = createServer((socket) => {
      connections += 1;
      let served = 0;
      socket.on("error", () => {});
      socket.on("data", (data) => {
        if (!data.toString().includes("POST")) {
          const models = JSON.stringify({ data: [{ id: "m" }] });
          socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${models.length}\r\nconnection: close\r\n\r\n${models}`);
          return;
        }
        requests += 1;
        served += 1;
        // Kept open after the first answer, closed when the second request arrives.
        if (served > 1) socket.resetAndDestroy();
        else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanup(() => server.close());
    const { port } = server.address() as AddressInfo;
    const gateway = await runGateway({
      health: { interval: "60s", timeout: "1s" },
      workers: [{ name: "a", url: `http://127.0.0.1:${port}`, engine: "openai" }],
    });
    expect((await chat(gateway)).status).toBe(200);
    const before = connections;
    const response = await chat(gateway);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-farmgate-attempts")).toBe("1");
    expect(requests).toBe(3);
    expect(connections).toBe(before + 1);
  });
});
