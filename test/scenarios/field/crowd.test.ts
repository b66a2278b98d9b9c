import { afterEach, describe, expect, it } from "vitest";
import type { Socket } from "node:net";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { startRawFarm } from "../../harness/raw-farm.ts";
import { chunk, LAST_CHUNK, STREAM_HEAD } from "../../harness/raw-worker.ts";
import { until } from "../../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const STREAMS = 1_000;
const EVENT = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
const DONE = "data: [DONE]\n\n";

describe("a thousand open streams", () => {
  it("all end whole, and the gateway answers beside them", async () => {
    const farm = await startRawFarm(cleanup, "openai");
    const open: Socket[] = [];
    farm.worker.answer = ({ socket }) => {
      socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunk(EVENT)]));
      open.push(socket);
    };
    const asked = Array.from({ length: STREAMS }, () => farm.ask("/v1/chat/completions"));
    const slowest = { ms: 0 };
    const look = async () => {
      const began = performance.now();
      expect((await fetch(`${farm.url}/health`)).status).toBe(200);
      slowest.ms = Math.max(slowest.ms, performance.now() - began);
    };
    await until(async () => {
      await look();
      return asked.every(({ received }) => received().length > 0);
    }, "every stream has begun");
    for (let i = 0; i < 10; i += 1) {
      for (const socket of open) socket.write(chunk(EVENT));
      await look();
    }
    for (const socket of open) socket.write(Buffer.concat([chunk(DONE), Buffer.from(LAST_CHUNK)]));
    const answers = await Promise.all(asked.map(({ answer }) => answer));
    console.log(
      `${STREAMS} open streams: /health answered within ${slowest.ms.toFixed(0)} ms, client and worker beside it`,
    );
    for (const { body } of answers) expect(body).toBe(EVENT.repeat(11) + DONE);
    expect(slowest.ms).toBeLessThan(5_000);
  });
});
