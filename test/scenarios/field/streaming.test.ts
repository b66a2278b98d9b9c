import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { gzipSync } from "node:zlib";
import { type Asked, ask } from "../../harness/ask.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { NGINX, startNginx } from "../../harness/nginx.ts";
import { type RawFarm, startRawFarm } from "../../harness/raw-farm.ts";
import { chunk, LAST_CHUNK, STREAM_HEAD, stream, whole } from "../../harness/raw-worker.ts";
import { until } from "../../harness/until.ts";

const CHAT = "/v1/chat/completions";

/** Two calls at once, as engines have told them: without an index, both with 0, and ended like a plain text. */
const TOOL_CALLS = [
  'data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\\"x\\":"}}]}}]}\n\n',
  'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"1}"}},{"index":0,"id":"b"}]}}]}\n\n',
  'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n',
];
const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\n';
const DONE = "data: [DONE]\n\n";
/** All that a stream of events may hold. */
const EVENTS = Buffer.from(
  [
    "\uFEFF: a comment behind a byte order mark\r\n\r\n",
    'event: message\nid: 7\nretry: 100\ndata: {"choices":[{"delta":{"content":"é漢😀"}}]}\n\n',
    'data:{"choices":[{"delta":{"reasoning_content":"hm"}}]}\r\n\r\n',
    'data: {"choices":[{"delta":{"reasoning":"hm"}}]}\r\r',
    ...TOOL_CALLS,
    USAGE,
    DONE,
  ].join(""),
);

describe.each(["vllm", "agent"] as const)("the events of a worker reached as %s", (reached) => {
  const cleanup = new Cleanup();
  let farm: RawFarm;
  beforeAll(async () => {
    farm = await startRawFarm(cleanup, reached);
  });
  afterAll(() => cleanup.run());

  it("arrive byte for byte and as soon as they are sent, cut at every place, and are counted", async () => {
    const asked = new Map<number, Asked | undefined>();
    farm.worker.answer = async ({ socket, body }) => {
      const { cut } = JSON.parse(body.toString()) as { cut: number };
      socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunk(EVENTS.subarray(0, cut))]));
      await until(() => asked.get(cut)?.received().length === cut, `the first ${cut} bytes came`);
      socket.write(Buffer.concat([chunk(EVENTS.subarray(cut)), Buffer.from(LAST_CHUNK)]));
    };
    for (let from = 1; from < EVENTS.length; from += 32) {
      const cuts = Array.from({ length: Math.min(32, EVENTS.length - from) }, (_, i) => from + i);
      const now = cuts.map((cut) => farm.ask(CHAT, { cut }));
      for (const [i, cut] of cuts.entries()) asked.set(cut, now[i]);
      for (const { bytes } of await Promise.all(now.map(({ answer }) => answer)))
        expect(bytes.equals(EVENTS)).toBe(true);
    }
    const streams = EVENTS.length - 1;
    await until(async () => (await farm.metrics()).includes(`direction="prompt"} ${7 * streams}`), "usage is counted");
    const metrics = await farm.metrics();
    expect(metrics).toContain(`direction="completion"} ${3 * streams}`);
    expect(metrics).toContain(
      `farmgate_requests_total{api="chat",model="m",worker="raw",status="200",warmth="warm"} ${streams}`,
    );
    expect(metrics).not.toContain("farmgate_streams_truncated_total{");
  });

  it("arrive byte for byte in pieces of one byte, of bytes that are no text, and in one piece of 5 MB", async () => {
    const pieces = Array.from(EVENTS, (byte) => Buffer.from([byte]));
    const random = Buffer.from(Array.from({ length: 4_096 }, (_, i) => (i * 167 + (i >> 3)) & 255));
    const large = Buffer.from(`data: {"choices":[{"delta":{"content":"${"é".repeat(2_500_000)}"}}]}\n\n${DONE}`);
    for (const sent of [pieces, [random], [large]]) {
      farm.worker.answer = ({ socket }) => stream(socket, sent);
      const answer = await farm.ask(CHAT).answer;
      expect(answer.bytes.equals(Buffer.concat(sent))).toBe(true);
      expect(answer.complete).toBe(true);
    }
  });

  it("come with what keeps proxies from holding or packing them, whatever the caller can unpack", async () => {
    farm.worker.answer = ({ socket }) => stream(socket, [USAGE, DONE]);
    const { headers, body } = await farm.ask(CHAT, {}, { "accept-encoding": "gzip, br" }).answer;
    expect(headers).toMatchObject({
      "content-type": "text/event-stream",
      "x-accel-buffering": "no",
      "cache-control": "no-cache, no-transform",
    });
    expect(headers["content-encoding"]).toBeUndefined();
    expect(body).toBe(USAGE + DONE);
    expect(farm.worker.asked.at(-1)?.head.toLowerCase()).not.toMatch(/accept-encoding: .*(gzip|br)/);
  });

  it("are asked for as the caller did: no stream_options are put in", async () => {
    farm.worker.answer = ({ socket }) => stream(socket, [DONE]);
    for (const path of [CHAT, "/v1/completions", "/v1/responses"]) {
      const sent = '{ "stream" :true,\n "model":"m", "max_tokens":1, "messages":[], "prompt":"", "input":"" }';
      expect((await ask(`${farm.url}${path}`, sent).answer).status).toBe(200);
      const request = farm.worker.asked.at(-1);
      expect([request?.path, request?.body.toString()]).toEqual([path, sent]);
    }
  });

  it("and bodies that the worker packed stay packed, and their usage unknown", async () => {
    for (const kind of ["text/event-stream", "application/json"]) {
      const packed = gzipSync(USAGE.repeat(200) + DONE);
      const headers = `content-type: ${kind}\r\ncontent-encoding: gzip`;
      farm.worker.answer = ({ socket }) => void socket.write(whole(packed, headers));
      // What ended before has been counted.
      await until(async () => requests(await farm.metrics()) === farm.worker.asked.length, "all are counted");
      const before = await farm.metrics();
      const answer = await farm.ask(CHAT).answer;
      expect(answer.headers["content-encoding"]).toBe("gzip");
      expect(answer.bytes.equals(packed)).toBe(true);
      await until(async () => requests(await farm.metrics()) === requests(before) + 1, "it is counted");
      expect(unknown(await farm.metrics())).toEqual(unknown(before));
    }
  });
});

/** Requests that were answered. */
function requests(metrics: string): number {
  const counts = metrics.matchAll(/^farmgate_requests_total\{[^}]*status="200"[^}]*\} (\d+)/gm);
  return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
}

/** What must not change by an answer that cannot be read. */
function unknown(metrics: string): string[] {
  return metrics.split("\n").filter((line) => /^farmgate_(tokens|streams_truncated)_total/.test(line));
}

/** Sends 20 events of 20 bytes, each only when the caller has the one before, and its head before the first. */
async function askByTurns(farm: RawFarm, url: string): Promise<{ asked: Asked; waits: number[] }> {
  const event = (i: number) => `data: ${String(i).padStart(12, ".")}\n\n`;
  const waits: number[] = [];
  let asked: Asked | null = null;
  farm.worker.answer = async ({ socket }) => {
    socket.write(STREAM_HEAD);
    await until(() => asked?.head()?.statusCode === 200, "the head comes before the first event");
    for (let i = 1; i <= 20; i += 1) {
      const sentAt = performance.now();
      socket.write(chunk(event(i)));
      await until(() => asked?.received().length === 20 * i, `event ${i} is there`);
      waits.push(performance.now() - sentAt);
    }
    socket.write(LAST_CHUNK);
  };
  asked = ask(`${url}${CHAT}`, { model: "m", stream: true }, { "accept-encoding": "gzip, br" });
  await asked.answer;
  return { asked, waits };
}

describe("small events, each sent only when the caller has the one before", () => {
  const cleanup = new Cleanup();
  afterEach(() => cleanup.run());

  it("come one by one, the head before the first", async () => {
    const farm = await startRawFarm(cleanup, "vllm");
    const { asked, waits } = await askByTurns(farm, farm.url);
    console.log(`events of 20 bytes: each there within ${Math.max(...waits).toFixed(0)} ms`);
    expect((await asked.answer).complete).toBe(true);
    expect(waits).toHaveLength(20);
    expect(Math.max(...waits)).toBeLessThan(2_000);
  });

  it.skipIf(NGINX === undefined)(
    "come one by one through an nginx that buffers by default (skipped where nginx is missing)",
    async () => {
      const farm = await startRawFarm(cleanup, "vllm");
      const nginx = await startNginx(cleanup, NGINX ?? "", { upstream: farm.url, readTimeout: "60s" });
      const { asked, waits } = await askByTurns(farm, nginx.url);
      console.log(`events of 20 bytes through nginx: each there within ${Math.max(...waits).toFixed(0)} ms`);
      expect((await asked.answer).complete).toBe(true);
      expect(waits).toHaveLength(20);
    },
  );
});
