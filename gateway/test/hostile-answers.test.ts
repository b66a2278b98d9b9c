import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { json, type RawServer, rawServer } from "../../test/harness/hostile-server.ts";
import { chat, errorOf, runGateway } from "./support/gateway.ts";
import { until } from "./support/until.ts";

const LIST = { data: [{ id: "m", owned_by: "vllm" }] };
const GOOD = { id: "x", object: "chat.completion", choices: [] };

/** A gateway over one hostile worker that lists `m`. */
async function farm() {
  const worker = await rawServer(() => json(LIST));
  const gateway = await runGateway({
    health: { interval: "10s", timeout: "1s" },
    timeouts: { firstByte: "3s", idle: "1s" },
    workers: [{ name: "w", url: worker.url, engine: "vllm" }],
  });
  await until(
    "it lists",
    async () => ((await (await fetch(`${gateway.url}/v1/models`)).json()) as typeof LIST).data.length === 1,
  );
  return { worker, gateway };
}

const head = (text: string) => `${text}\r\n\r\n`;
const many = (line: string, times: number) => Array.from({ length: times }, () => line).join("");

describe("a worker's answer that is no HTTP in its right mind", () => {
  const SHAPES: Record<string, (socket: Parameters<RawServer["answer"]>[0]) => string | Buffer | null> = {
    "status 0": () => head("HTTP/1.1 000 X\r\ncontent-length: 0"),
    "status 99": () => head("HTTP/1.1 99 X\r\ncontent-length: 0"),
    "status 999": () => head("HTTP/1.1 999 X\r\ncontent-length: 0"),
    "status 199": () => head("HTTP/1.1 199 X\r\ncontent-length: 0"),
    "a switch that nobody asked for": () => head("HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: websocket"),
    "a header with a bare CR": () => head("HTTP/1.1 200 OK\r\nx: a\rb: c\r\ncontent-length: 0"),
    "a header of 1 MB": () => head(`HTTP/1.1 200 OK\r\nx: ${"a".repeat(1_048_576)}\r\ncontent-length: 0`),
    "1 MB of headers": () => head(`HTTP/1.1 200 OK\r\n${many("x: aaaaaaaaaaaaaaa\r\n", 50_000)}content-length: 0`),
    "thousands of interim answers": () => many("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n", 20_000),
    "a length that is no number": () => head("HTTP/1.1 200 OK\r\ncontent-length: -1"),
    "two lengths": () => head("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2"),
    "a redirect": () => head("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/elsewhere\r\ncontent-length: 0"),
    garbage: () => Buffer.from([0, 1, 2, 255, 254, 10, 13, 10]),
    nothing: () => "",
    "headers without an end": (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const more = () => {
        while (socket.writable && socket.write("x: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".repeat(100)));
      };
      socket.on("drain", more);
      more();
      return null;
    },
  };

  it("is a told error, in bounded memory, and the next request is served", async () => {
    const { worker, gateway } = await farm();
    const told: Record<string, string> = {};
    const before = process.memoryUsage().heapUsed;
    for (const [name, shape] of Object.entries(SHAPES)) {
      worker.answer = shape;
      const { status, code, message } = await errorOf(await chat(gateway));
      told[name] = `${status} ${code}`;
      expect.soft(message, name).toMatch(/^[ -~]{1,400}$/);
      expect.soft(message, name).not.toContain("aaaa");
      worker.answer = () => json(GOOD);
      // One failure opens no breaker.
      expect.soft((await chat(gateway)).status, name).toBe(200);
    }
    expect(told).toEqual(Object.fromEntries(Object.keys(SHAPES).map((name) => [name, "502 worker_failed"])));
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 1_024 ** 2);
    // Nobody went where the redirect pointed; a request came once, or once more where its connection had broken.
    expect(worker.posts).toBeLessThanOrEqual(3 * Object.keys(SHAPES).length);
  });

  it("that is cut short is told as an error, and one that is too long not passed on beyond its length", async () => {
    const { worker, gateway } = await farm();
    worker.answer = () => `${head("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100")}{"a":1`;
    const cut = await chat(gateway);
    expect([cut.status, await cut.json()]).toMatchObject([502, { error: { code: "worker_failed" } }]);
    worker.answer = () =>
      `${head("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 7")}{"a":1}HTTP/1.1 200 OK\r\n`;
    expect(await (await chat(gateway)).text()).toBe('{"a":1}');
    worker.answer = () => json(GOOD);
    expect(await (await chat(gateway)).json()).toEqual(GOOD);
  });
});

describe("a worker's headers", () => {
  it("lose what speaks in Farmgate's name, sets cookies, or is for one hop alone", async () => {
    const { worker, gateway } = await farm();
    const lines = [
      "x-farmgate-worker: another",
      "x-farmgate-retries: 99",
      "X-Farmgate-Anything: 1",
      "x-request-id: theirs",
      "set-cookie: session=1",
      "access-control-allow-origin: *",
      "connection: x-secret, keep-alive",
      "x-secret: 1",
      "keep-alive: timeout=5",
      "proxy-authenticate: Basic",
      "alt-svc: h3=:443",
      "x-kept: yes",
    ];
    worker.answer = () => json(GOOD, `${lines.join("\r\n")}\r\n`);
    const answer = await chat(gateway);
    const headers = Object.fromEntries(answer.headers);
    expect(headers).toMatchObject({ "x-farmgate-worker": "w", "x-kept": "yes" });
    for (const name of [
      "x-farmgate-retries",
      "x-farmgate-anything",
      "set-cookie",
      "x-secret",
      "proxy-authenticate",
      "alt-svc",
      "access-control-allow-origin",
    ]) {
      expect.soft(headers[name], name).toBeUndefined();
    }
    expect(headers["x-request-id"]).not.toBe("theirs");
  });

  it("that tell of packing pass with what is packed: nothing is unpacked here", async () => {
    const { worker, gateway } = await farm();
    const bomb = gzipSync(Buffer.alloc(20 * 1_024 ** 2));
    const packed = Buffer.concat([
      Buffer.from(
        head(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}`,
        ),
      ),
      bomb,
    ]);
    worker.answer = () => packed;
    const answer = await chat(gateway, {}, { headers: { "accept-encoding": "identity" } });
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    expect((await answer.arrayBuffer()).byteLength).toBe(20 * 1_024 ** 2);
    // Where it would have to be read, it is no answer.
    const translated = await fetch(`${gateway.url}/api/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "m", stream: false, messages: [{ role: "user", content: "x" }] }),
    });
    expect(translated.status).toBe(502);
  });
});
