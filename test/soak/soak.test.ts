import { once } from "node:events";
import { Agent, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { seededRandom } from "@farmgate/shared";
import { describe, expect, it, onTestFinished } from "vitest";
import { ask } from "../harness/ask.ts";
import { until } from "../harness/until.ts";
import { checksOf, type Seen, settled } from "./checks.ts";
import { type Ask, nextAsk } from "./load/asks.ts";
import { floodPieces } from "./load/expected.ts";
import { readAnswer } from "./load/read-answer.ts";
import { count, emptyTally } from "./load/tally.ts";
import { type Came, verdictOf } from "./load/verdict.ts";
import { parseOptions } from "./options.ts";
import { MISDEEDS, misdeedFor } from "./rogue/misdeeds.ts";
import { heapGrowth } from "./watch/flat.ts";
import { progressLine } from "./watch/lines.ts";
import { sumOf } from "./watch/prometheus.ts";
import type { Sample } from "./watch/sample.ts";

const MB = 1_024 ** 2;
const asked: Omit<Ask, "form"> = {
  kind: "stream",
  path: "/v1/chat/completions",
  body: {},
  expected: "one two three",
  leaveAfterMs: null,
  readsSlowly: false,
};
const came = (body: string, more: Partial<Came> = {}): Came => ({
  status: 200,
  body,
  complete: true,
  left: false,
  ...more,
});
const chat = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
const DONE = "data: [DONE]\n\n";
const told = `data: {"error":{"message":"no","type":"server_error","code":"worker_failed"}}\n\n`;
const whole = chat("one two") + chat(" three");

describe("the soak's callers", () => {
  it("have left, not been cheated, when the end of their answer had come but was not read yet", async () => {
    let answer = (_end: string) => {};
    const server = createServer((request, response) => {
      request.resume();
      response.write(whole);
      answer = (end) => response.end(end);
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const under = ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "{}", {}, agent);
    await under.firstByte;
    under.head()?.pause();
    answer(DONE);
    await until(() => under.head()?.complete === true, "the whole answer");
    under.leave();
    const { body, complete } = await under.answer;
    expect([body, complete]).toEqual([whole, false]);
  });

  it("ask the same from the same seed, and every kind", () => {
    const asks = (seed: number) => {
      const random = seededRandom(seed);
      return Array.from({ length: 250 }, (_, i) => nextAsk(random, `r-${i}`));
    };
    const outline = (all: readonly Ask[]) =>
      all.map(({ kind, expected, leaveAfterMs }) => [kind, expected, leaveAfterMs]);
    const all = asks(1);
    expect(outline(asks(1))).toEqual(outline(all));
    expect(outline(asks(2))).not.toEqual(outline(all));
    expect(new Set(all.map(({ kind }) => kind)).size).toBe(8);
    expect(all.filter(({ leaveAfterMs }) => leaveAfterMs !== null).length).toBeGreaterThan(3);
    for (const { expected, kind } of all) expect(`${kind} ${expected}`).toMatch(/ .../);
  });

  it.each<[string, Came, object]>([
    ["the right text and its end", came(whole + DONE), { end: "whole" }],
    ["comments between", came(`: wait\n\n${whole}${DONE}`), { end: "whole" }],
    ["an error inside", came(chat("one") + told), { end: "told", as: "inside the answer worker_failed" }],
    [
      "an error status",
      came('{"error":{"code":"queue_full"}}', { status: 503 }),
      { end: "told", as: "503 queue_full" },
    ],
    ["our own leave", came(chat("one"), { complete: false, left: true }), { end: "left" }],
  ])("take %s for an end", (_, answer, verdict) => {
    expect(verdictOf({ ...asked, form: "chat-stream" }, answer)).toEqual(verdict);
  });

  it.each<[string, Came]>([
    ["another text", came(chat("two") + DONE)],
    ["another text before we left", came(chat("two"), { complete: false, left: true })],
    ["more text", came(whole + chat(" four") + DONE)],
    ["less text", came(chat("one") + DONE)],
    ["a text without its end", came(whole)],
    ["a broken connection", came(whole, { complete: false })],
    ["no answer", came("", { status: 0, complete: false })],
    ["a fault of the gateway's own", came('{"error":{"code":"internal"}}', { status: 500 })],
    ["a refusal of a good request", came('{"error":{"code":"invalid_request"}}', { status: 400 })],
    ["an error without a word", came("", { status: 502 })],
  ])("take %s for lost", (_, answer) => {
    expect(verdictOf({ ...asked, form: "chat-stream" }, answer).end).toBe("lost");
  });

  it("know a whole answer that HTTP says is cut", () => {
    const body = '{"choices":[{"message":{"content":"one';
    expect(verdictOf({ ...asked, form: "chat-whole" }, came(body, { complete: false })).end).toBe("told");
    expect(verdictOf({ ...asked, form: "chat-whole" }, came(body)).end).toBe("lost");
  });

  it("read every form", () => {
    const event = (value: object) => `event: x\ndata: ${JSON.stringify(value)}\n\n`;
    const anthropic = event({ delta: { text: "a" } }) + event({ type: "message_stop" });
    const ollama = '{"message":{"content":"a"},"done":false}\n{"message":{"content":""},"done":true}\n{"mess';
    const all = { text: "a", ended: true, error: null };
    expect(readAnswer("anthropic-stream", anthropic)).toEqual(all);
    expect(readAnswer("ollama-stream", ollama)).toEqual(all);
    expect(readAnswer("chat-whole", '{"choices":[{"message":{"content":"a"}}]}')).toEqual(all);
    expect(readAnswer("embeddings", '{"data":[{"embedding":[1,2]}]}')).toEqual({ ...all, text: "[1,2]" });
    expect(readAnswer("ollama-stream", '{"error":"no"}\n').error).toBe("told in words");
    const flood = [...floodPieces("n")];
    expect(readAnswer("flood-stream", flood.map(chat).join("") + DONE).text).toBe(flood.join(""));
  });
});

describe("the worker that misbehaves", () => {
  it("breaks about the share that it is to, in every way", () => {
    const random = seededRandom(3);
    const broken = Array.from({ length: 4_000 }, () => misdeedFor(random, 0.1)).filter((misdeed) => misdeed !== null);
    expect(broken.length / 4_000).toBeCloseTo(0.1, 1);
    expect(new Set(broken)).toEqual(new Set(MISDEEDS));
  });
});

const sample = (at: number, more: Partial<Sample> = {}): Sample => ({
  at,
  fds: 20,
  resident: 100 * MB,
  heap: 30 * MB,
  external: 0,
  inflight: 0,
  queued: 0,
  ...more,
});

describe("the soak's verdict", () => {
  const heaps = (heap: (at: number) => number) =>
    Array.from({ length: 100 }, (_, at) => sample(at, { heap: (heap(at) + (at % 5) * 4) * MB }));

  it("takes a heap that goes up and down for flat, and one that goes up for grown", () => {
    expect(
      heapGrowth(
        heaps(() => 30),
        100,
      ),
    ).toEqual({ early: 30 * MB, late: 30 * MB, isFlat: true });
    expect(
      heapGrowth(
        heaps((at) => 30 + at),
        100,
      ).isFlat,
    ).toBe(false);
    expect(heapGrowth([], 100).isFlat).toBe(false);
  });

  it("fails when anything was lost, stays under way, stays open, grows or ends", () => {
    const tally = { ...emptyTally(), requests: 10, whole: 10 };
    for (const kind of ["stream", "whole", "embeddings", "anthropic", "ollama", "large body", "flood", "realtime"])
      tally.kinds[kind] = 1;
    const good: Seen = {
      tally,
      ms: 100,
      samples: { gateway: heaps(() => 30) },
      before: { gateway: sample(0) },
      after: { gateway: sample(100) },
      misdeeds: { served: 9, cut: 1 },
      ended: [],
      missedScrapes: 0,
    };
    const failed = (more: Partial<Seen>) => checksOf({ ...good, ...more }).filter(({ passed }) => !passed).length;
    expect(failed({})).toBe(0);
    expect(failed({ tally: { ...tally, lost: 1 } })).toBe(1);
    expect(failed({ after: { gateway: sample(100, { inflight: 1 }) } })).toBe(1);
    expect(failed({ after: { gateway: sample(100, { fds: 40 }) } })).toBe(1);
    expect(failed({ after: {} })).toBe(2);
    expect(failed({ samples: { gateway: heaps((at) => 30 + at) } })).toBe(1);
    expect(failed({ misdeeds: { served: 9 } })).toBe(1);
    expect(failed({ ended: ["gateway"] })).toBe(1);
    expect(settled(sample(0), sample(9, { queued: 1 }))).toBe(false);
    expect(settled(sample(0), sample(9))).toBe(true);
  });

  it("is told in a line", () => {
    const tally = emptyTally();
    count(tally, "stream", { end: "told", as: "502 worker_failed" }, "");
    count(tally, "stream", { end: "whole" }, "");
    count(tally, "stream", { end: "lost", why: "no answer" }, "req_1");
    const line = progressLine(90_000, tally, 0.5, { gateway: sample(1), agent: undefined });
    expect(line).toContain("01:30  requests 3, whole 1, told 1 (502 worker_failed 1), left 0, lost 1; cpu 50 %");
    expect(line).toContain("gateway: fds 20, memory 100.0 MB, heap 30.0 MB, in flight 0, queued 0");
    expect(line).toContain("agent: no answer");
    expect(tally.examples).toEqual(["stream req_1: no answer"]);
  });

  it("sums the lines of a metric, and of no other", () => {
    expect(sumOf('# HELP a x\na{w="1"} 2\na{w="2 b"} 3\nab 4\na_total 5\n', "a")).toBe(5);
  });
});

describe("the soak's options", () => {
  it("have a default, and are checked", () => {
    expect(parseOptions([])).toEqual({ minutes: 20, streams: 200, seed: 1 });
    expect(parseOptions(["--minutes", "0.5", "--streams", "3"])).toMatchObject({ minutes: 0.5, streams: 3 });
    for (const [flag, value] of [
      ["--minutes", "0"],
      ["--streams", "1.5"],
      ["--seed", "x"],
    ] as const) {
      expect(() => parseOptions([flag, value])).toThrow(flag);
    }
  });
});
