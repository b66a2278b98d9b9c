import { describe, expect, it } from "vitest";
import { ResponseReader } from "./load/response-reader.ts";
import { fullPlan, quickPlan } from "./plan.ts";
import * as bodies from "./scenarios/bodies.ts";
import * as answers from "./stub/answers.ts";
import { RequestReader } from "./stub/request-reader.ts";

/** `bytes` cut into pieces of every size from one byte to all of them. */
function* cuts(bytes: Buffer): Generator<Buffer[]> {
  for (const size of [1, 2, 3, 7, 64, bytes.length]) {
    yield Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
  }
}

describe("the inputs", () => {
  it.each([
    ["a short question", bodies.shortBody, 300],
    ["a slow stream's question", bodies.slowStreamBody, 2_100],
    ["a long prompt", bodies.longPromptBody, 220_000],
    ["a chunk of a stream", answers.streamChunk, 180],
    ["a short answer, with its head", answers.shortAnswer, 570],
  ])("keeps the size of %s", (_, bytes, size) => {
    expect(bytes.length / size).toBeGreaterThan(0.9);
    expect(bytes.length / size).toBeLessThan(1.1);
  });

  it("says how to answer in the part of a body that the stub reads", () => {
    for (const body of [bodies.pacedStreamBody, bodies.longPromptBody]) {
      expect(JSON.parse(body)).toMatchObject({ model: "bench", stream: true });
      expect(body.slice(0, 256)).toMatch(/"stream":true,"max_tokens":\d+,"bench_interval_ms":\d+/);
    }
    expect(JSON.parse(bodies.shortBody)).not.toHaveProperty("stream");
  });

  it("keeps both plans within their time", () => {
    expect(seconds(fullPlan)).toBeLessThan(225);
    expect(seconds(quickPlan)).toBeLessThan(50);
  });
});

/** What a plan takes with three proxies, 0.1 s between two jobs and 2 ms for an idle request. */
function seconds(plan: typeof fullPlan): number {
  const { rounds, shortAnswers, streamedChunks, firstByte, longPrompts, openStreams } = plan;
  const short = (rounds + 1) * 3 * (shortAnswers.warmupMs + shortAnswers.windowMs + 100);
  const chunks = streamedChunks.rampMs + streamedChunks.warmupMs + streamedChunks.windowMs + 100;
  const first = (firstByte.warmups + firstByte.count) * 4 * (firstByte.pauseMs + 2);
  const long = (longPrompts.rounds + 1) * 4 * (longPrompts.warmupMs + longPrompts.windowMs + 100);
  const open = openStreams.rampMs + openStreams.warmupMs + openStreams.windowMs + 1_300;
  return (short + (rounds + 1) * 3 * chunks + first + long + open) / 1_000;
}

function requestsIn(pieces: Buffer[]): [string, string][] {
  const seen: [string, string][] = [];
  const reader = new RequestReader(8, (line, body) => seen.push([line, body]));
  for (const piece of pieces) reader.push(piece);
  return seen;
}

describe("the stub's reader", () => {
  it("finds requests however they are cut, with a length, in chunks or without a body", () => {
    const bytes = Buffer.from(
      "POST /a HTTP/1.1\r\nContent-Length: 12\r\n\r\n0123456789ab" +
        "GET /b HTTP/1.1\r\nhost: x\r\n\r\n" +
        "POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n",
    );
    for (const pieces of cuts(bytes)) {
      expect(requestsIn(pieces)).toEqual([
        ["POST /a HTTP/1.1", "01234567"],
        ["GET /b HTTP/1.1", ""],
        ["POST /c HTTP/1.1", "3\r\nabc\r\n"],
      ]);
    }
  });
});

function readAnswers(pieces: Buffer[]) {
  const seen = { statuses: [] as number[], events: 0, ends: 0 };
  const reader = new ResponseReader({
    onHead: (status) => seen.statuses.push(status),
    onEvents: (events) => {
      seen.events += events;
    },
    onEnd: () => {
      seen.ends++;
    },
  });
  for (const piece of pieces) reader.push(piece);
  return seen;
}

describe("the load's reader", () => {
  it("counts events and ends however a stream is cut", () => {
    const { streamHead, streamChunk, streamEnd } = answers;
    for (const pieces of cuts(Buffer.concat([streamHead, streamChunk, streamChunk, streamEnd]))) {
      expect(readAnswers(pieces)).toEqual({ statuses: [200], events: 3, ends: 1 });
    }
  });

  it("ends an answer of known length, and begins the next", () => {
    for (const pieces of cuts(Buffer.from(answers.shortAnswer))) {
      expect(readAnswers([...pieces, ...pieces, answers.notFound])).toEqual({
        statuses: [200, 200, 404],
        events: 0,
        ends: 3,
      });
    }
  });
});
