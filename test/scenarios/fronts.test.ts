import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { gatewayConfigSchema, startGateway } from "@farmgate/gateway";
import { seededRandom } from "@farmgate/shared";
import { createLog, createSystemClock } from "@farmgate/wire";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startKinds } from "../harness/all-kinds-farm.ts";
import { ask, askChat } from "../harness/ask.ts";
import { CADDY, startCaddy } from "../harness/caddy.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startHeldWorker } from "../harness/held-worker.ts";
import { NGINX, startNginx } from "../harness/nginx.ts";
import { chunk, STREAM_HEAD, whole } from "../harness/raw-worker.ts";
import { until } from "../harness/until.ts";
import { RealtimeClient } from "../harness/web-socket.ts";

const shipped = (path: string) => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), "utf8");

/** A front as it is shipped, but for its addresses, before these gateways. */
type Start = (cleanup: Cleanup, gateways: readonly [string, string]) => Promise<{ url: string }>;

const nginx: Start = (cleanup, [first, second]) =>
  startNginx(cleanup, NGINX ?? "", {
    file: (port) =>
      shipped("nginx/farmgate.conf")
        .replace("listen 80;", `listen 127.0.0.1:${port};`)
        .replace("127.0.0.1:8400", new URL(first).host)
        .replace("127.0.0.1:8410", new URL(second).host),
  });

const caddy: Start = (cleanup, gateways) => startCaddy(cleanup, CADDY ?? "", shipped("caddy/Caddyfile"), gateways);

/** What stands for a gateway: `answer` gets every POST. */
async function startStub(cleanup: Cleanup, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    if (request.method === "POST") answer(request, response);
    else response.end("ok");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.add(server, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function runGateway(cleanup: Cleanup, workers: readonly object[]) {
  const gateway = await startGateway({
    config: gatewayConfigSchema.parse({ listen: { port: 0 }, workers, drain: "1s" }),
    clock: createSystemClock(),
    random: seededRandom(1),
    log: createLog("gateway", "silent"),
    version: "0.0.0",
  });
  return cleanup.add(gateway, (running) => running.close());
}

describe.each([
  ["nginx", nginx, NGINX, true],
  ["caddy", caddy, CADDY, false],
] as const)("deploy/%s (skipped where it is not installed)", (_name, start, program, asksTheOther) => {
  describe.skipIf(program === undefined)("before two gateways", () => {
    const atEnd = new Cleanup();
    const cleanup = new Cleanup();
    let worker: Awaited<ReturnType<typeof startHeldWorker>>;
    let url: string;
    let endFirst: () => Promise<unknown>;

    beforeAll(async () => {
      worker = await startHeldWorker(atEnd);
      const sounds = await startKinds(atEnd, "b");
      const workers = [
        { name: "raw", url: worker.raw.url, engine: "vllm" },
        { name: "sounds", url: sounds.engine.url, engine: "llama-server" },
      ];
      const [first, second] = await Promise.all([runGateway(atEnd, workers), runGateway(atEnd, workers)]);
      endFirst = () => first.close();
      ({ url } = await start(atEnd, [first.url, second.url]));
    });
    afterEach(() => cleanup.run());
    afterAll(() => atEnd.run());

    test("an event of a stream is there before the next one is made", async () => {
      const asked = askChat(url, "m");
      await asked.firstByte;
      expect(asked.received().toString()).toContain("so");
      worker.release();
      const { complete, body } = await asked.answer;
      expect([complete, body.endsWith("data: [DONE]\n\n")]).toEqual([true, true]);
    });

    test("a caller who leaves is noticed at the engine", async () => {
      const before = worker.raw.answer;
      let closed = () => {};
      const left = new Promise<void>((resolve) => (closed = resolve));
      worker.raw.answer = ({ socket }) => {
        socket.on("close", () => closed());
        socket.write(STREAM_HEAD);
        socket.write(chunk("data: {}\n\n"));
      };
      const asked = askChat(url, "m");
      await asked.firstByte;
      asked.leave();
      await expect(left).resolves.toBeUndefined();
      worker.raw.answer = before;
    });

    test("a large body arrives whole, and one over the limit is refused", async () => {
      worker.raw.answer = ({ socket, body }) => void socket.write(whole(JSON.stringify({ got: body.length })));
      const text = JSON.stringify({ model: "m", messages: [{ role: "user", content: "x".repeat(12_000_000) }] });
      const { status, body } = await ask(`${url}/v1/chat/completions`, text).answer;
      expect([status, JSON.parse(body)]).toEqual([200, { got: text.length }]);
      const tooLarge = ask(`${url}/v1/chat/completions`, "{}", { "content-length": "120000000" });
      await until(() => Promise.resolve(tooLarge.head() !== null), "it is answered");
      expect(tooLarge.head()?.statusCode).toBe(413);
      tooLarge.leave();
    });

    test("a realtime session passes both ways", async () => {
      const client = cleanup.add(new RealtimeClient(`${url}/v1/realtime?model=b-sound`), (one) => one.close());
      await client.opened();
      client.send("hello");
      await client.got((text) => text.includes("hello"), "the echo");
      client.close();
      expect(await client.closed).toBe(1005);
    });

    test("a POST that was sent is not sent again when its gateway breaks, and says whom it is from", async () => {
      const seen: IncomingMessage["headers"][] = [];
      const stubs = [0, 1].map(() =>
        startStub(cleanup, (request) => {
          seen.push(request.headers);
          request.resume().on("end", () => request.socket.destroy());
        }),
      );
      const [one = "", other = ""] = await Promise.all(stubs);
      const front = await start(cleanup, [one, other]);
      const answer = await ask(`${front.url}/v1/chat/completions`, "{}", { "x-forwarded-for": "192.0.2.66" }).answer;
      expect(answer.status).toBe(502);
      expect(seen.map((headers) => headers["x-forwarded-for"])).toEqual(["127.0.0.1"]);
    });

    test("all go on with the other gateway when one has gone", async () => {
      const ten = async () => {
        const asked = Array.from({ length: 10 }, () => askChat(url, "m", { stream: false }).answer);
        return (await Promise.all(asked)).map(({ status }) => status);
      };
      const allWell = Array(10).fill(200);
      await endFirst();
      const first = await ten();
      if (!asksTheOther) await until(async () => isDeepStrictEqual(await ten(), allWell), "the other has all");
      expect(asksTheOther ? first : await ten()).toEqual(allWell);
    });
  });
});
