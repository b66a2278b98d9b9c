import { expect, it } from "vitest";
import { HeldAnswer, type ExchangeOutcome, type ExchangeSink } from "@farmgate/wire";

const JSON_TYPE = ["content-type", "application/json; charset=utf-8"];
const BROKEN: ExchangeOutcome = {
  ok: false,
  failure: { phase: "body", kind: "reset", reused: false, message: "ECONNRESET" },
};

/** A held answer, what its sink was told, and a clock that is set. */
function held(asksStream = false) {
  const told: string[] = [];
  const time = { now: 0 };
  const sink: ExchangeSink = {
    head: (status) => void told.push(`head ${status}`),
    data(chunk) {
      told.push(chunk.length > 20 ? `${chunk.length} bytes` : chunk.toString());
      return false;
    },
    end: ({ ok }) => void told.push(ok ? "whole" : "broken"),
  };
  const clock = { now: () => time.now, wall: () => 0, after: () => () => {} };
  return { answer: new HeldAnswer(sink, clock, asksStream), told, time };
}

it.each([[[...JSON_TYPE, "content-length", "4"]], [JSON_TYPE], [["content-type", "text/plain"]]])(
  "passes a short whole answer on once it is complete: %j",
  (headers) => {
    const { answer, told } = held();
    answer.head(200, headers);
    expect([answer.data(Buffer.from("ab")), answer.data(Buffer.from("cd")), told]).toEqual([true, true, []]);
    answer.end({ ok: true });
    expect(told).toEqual(["head 200", "abcd", "whole"]);
  },
);

it("tells nothing but the end of one that breaks", () => {
  const { answer, told } = held();
  answer.head(200, JSON_TYPE);
  answer.data(Buffer.from("ab"));
  answer.end(BROKEN);
  expect(told).toEqual(["broken"]);
});

it("passes an answer without a body on", () => {
  const { answer, told } = held();
  answer.head(200, [...JSON_TYPE, "content-length", "0"]);
  answer.end({ ok: true });
  expect(told).toEqual(["head 200", "whole"]);
});

it.each<[string, number, string[], boolean]>([
  ["events", 200, ["content-type", "text/event-stream"], false],
  ["lines", 200, ["content-type", "application/x-ndjson"], false],
  ["sound", 200, ["content-type", "audio/wav", "content-length", "4"], false],
  ["an error", 500, JSON_TYPE, false],
  ["a long answer", 200, [...JSON_TYPE, "content-length", "1048577"], false],
  ["JSON that may come in pieces, since a stream was asked for", 200, JSON_TYPE, true],
])("holds nothing back of %s", (_name, status, headers, asksStream) => {
  const { answer, told } = held(asksStream);
  answer.head(status, headers);
  expect([answer.data(Buffer.from("ab")), told]).toEqual([false, [`head ${status}`, "ab"]]);
});

it("lets one of unknown length go when it turns out long, or slow", () => {
  const long = held();
  long.answer.head(200, JSON_TYPE);
  expect(long.answer.data(Buffer.alloc(1_024 ** 2))).toBe(true);
  expect(long.answer.data(Buffer.from("x"))).toBe(false);
  expect(long.told).toEqual(["head 200", "1048577 bytes"]);
  const slow = held();
  slow.answer.head(200, JSON_TYPE);
  expect(slow.answer.data(Buffer.from("a"))).toBe(true);
  slow.time.now = 2_000;
  expect(slow.answer.data(Buffer.from("b"))).toBe(false);
  expect(slow.told).toEqual(["head 200", "ab"]);
  slow.answer.data(Buffer.from("c"));
  slow.answer.end(BROKEN);
  expect(slow.told).toEqual(["head 200", "ab", "c", "broken"]);
});
