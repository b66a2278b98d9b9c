import { API_NAMES } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UsageTap } from "../../src/proxy/usage-tap.ts";

function tapOf(pieces: readonly (Buffer | string)[]): UsageTap {
  const tap = new UsageTap();
  for (const piece of pieces) tap.add(Buffer.from(piece));
  return tap;
}

/** Cuts at these places (shares of the length). */
function cut(text: string, places: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const at = [0, ...places.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
}

const LLAMA =
  'data: {"choices":[],"usage":{"completion_tokens":12,"prompt_tokens":34,"total_tokens":46,"prompt_tokens_details":{"cached_tokens":1}},"timings":{"predicted_n":12}}\n\ndata: [DONE]\n\n';

describe("what is seen of an answer", () => {
  it("never alters a byte of it, nor fails, whatever the bytes and wherever they are cut", () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 3_000 }),
      fc
        .constantFrom('"usage":{', '{"usage":{"prompt_tokens":1}', "data: [DONE]", "\n\n", "}")
        .map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.boolean(), (pieces, packed) => {
        const tap = new UsageTap();
        tap.packed = packed;
        const passed = pieces.map((bytes) => Buffer.from(bytes));
        for (const bytes of passed) {
          tap.add(bytes);
          tap.atBoundary("event");
        }
        const { prompt = null, completion = null } = tap.usage() ?? {};
        for (const count of [prompt, completion]) expect(count === null || count >= 0).toBe(true);
        for (const api of API_NAMES) tap.sawEnd(api);
        expect(Buffer.concat(passed).equals(Buffer.concat(pieces))).toBe(true);
      }),
    );
  });

  it("is nothing of a compressed one, whose stream may well have ended in good form", () => {
    const tap = tapOf(['"usage":{"prompt_tokens":5}}']);
    tap.packed = true;
    expect(tap.usage()).toBeNull();
    for (const api of API_NAMES) expect(tap.sawEnd(api)).toBe(true);
  });
});

describe("the usage of an answer", () => {
  it("is found however the stream was cut", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 10 }), (places) => {
        const filler = 'data: {"choices":[{"delta":{"content":"é漢"}}],"usage":null}\n\n'.repeat(100);
        const tap = tapOf(cut(filler + LLAMA, places));
        expect(tap.usage()).toEqual({ prompt: 34, completion: 12 });
        expect(tap.sawEnd("chat")).toBe(true);
      }),
    );
  });

  it("is found at the end of a JSON answer, also under Anthropic's names", () => {
    expect(tapOf([`{"data":"${"x".repeat(5_000)}","usage":{"prompt_tokens":5}}`]).usage()).toEqual({
      prompt: 5,
      completion: null,
    });
    expect(tapOf(['{"usage": {"input_tokens":1,"output_tokens":2}}']).usage()).toEqual({ prompt: 1, completion: 2 });
  });

  it("is missing rather than wrong", () => {
    for (const text of [
      "",
      "x",
      '"usage"',
      '"usage":{',
      '"usage":{"prompt_tokens":"3"}',
      '"usage":null',
      '{"usage":{]}',
    ]) {
      expect(tapOf([text]).usage()).toBeNull();
    }
  });
});

const LAST = '"done":true,"done_reason":"stop"';
const COUNTS = '"total_duration":5,"load_duration":1,"prompt_eval_count":7,"eval_count":9,"eval_duration":3}\n';
const LINE =
  '{"model":"m","message":{"role":"assistant","content":"say \\"done\\":true, \\"eval_count\\":1"},"done":false}\n';

describe("Ollama's own counts", () => {
  it("are read of its last line, or of its whole answer", () => {
    expect(tapOf([LINE.repeat(50), `{"model":"m",${LAST},${COUNTS}`]).usage()).toEqual({ prompt: 7, completion: 9 });
    const long = `{"model":"m","response":"",${LAST},"context":[${"1,".repeat(5_000)}1],${COUNTS}`;
    expect(tapOf([LINE, long]).usage()).toEqual({ prompt: 7, completion: 9 });
    expect(tapOf(['{"embeddings":[[0.1]],"total_duration":1,"prompt_eval_count":3}']).usage()).toEqual({
      prompt: 3,
      completion: null,
    });
    expect(tapOf([LINE]).usage()).toBeNull();
  });
});

describe("the end of a stream", () => {
  const event = (name: string) => `event: ${name}\ndata: {"type":"${name}"}\n\n`;

  it.each([
    ["chat", "data: {}\n\ndata: [DONE]\n\n", "data: {}\n\n"],
    ["messages", event("message_stop"), event("message_delta")],
    ["messages", "event:message_stop\ndata: {}\n\n", 'event: x\ndata: {"text":"event: message_stop"}\n\n'],
    ["responses", event("response.completed"), event("response.output_text.done")],
    ["responses", 'data: {"type":"response.incomplete"}\n\n', event("response.created")],
    ["responses", event("response.failed"), event("error")],
    [
      "responses",
      `event: response.completed\ndata: {"type":"response.completed","text":"${"a ".repeat(5_000)}"}\n\n`,
      `event: response.completed\ndata: {"type":"response.completed","text":"${"a ".repeat(5_000)}`,
    ],
    ["ollama-chat", `{"model":"m",${LAST},${COUNTS}`, LINE],
    ["ollama-chat", '{"done": true}', '{"error":"out of memory"}\n'],
    [
      "ollama-generate",
      `{${LAST},"context":[${"1,".repeat(5_000)}1],${COUNTS}`,
      `{${LAST},"context":[${"1,".repeat(5_000)}`,
    ],
    [
      "ollama-chat",
      `${LINE}{"done":true}\n\n`,
      '{"message":{"tool_calls":[{"function":{"arguments":{"done":true}}}]},"done":false}\n',
    ],
  ] as const)("is seen of %s", (api, whole, cut) => {
    expect(tapOf([LINE, whole]).sawEnd(api)).toBe(true);
    expect(tapOf([LINE, cut]).sawEnd(api)).toBe(false);
  });

  it("is looked for in the time that the text takes, whatever a worker wrote to make it long", () => {
    const word = fc.constantFrom(
      '"total_duration":1',
      ',"a":11',
      ',"a": 11',
      "1".repeat(40),
      "}",
      "{",
      '"usage":{',
      '{"prompt_tokens":1',
      " ",
      "\n",
      "\r",
      "data: ",
      "event: ",
      "response.completed",
      "[DONE]",
      '"eval_count":',
      "\\",
      '"',
      '"model":"',
    );
    const words = fc.array(fc.tuple(word, fc.constantFrom(1, 1, 20, 200)), { maxLength: 12 });
    const made = words.map((all) => all.map(([text, times]) => text.repeat(times)).join(""));
    const worst = `"total_duration":1${',"a":11'.repeat(500)}`;
    fc.assert(
      fc.property(made, (text) => {
        const tap = tapOf([text]);
        const started = performance.now();
        tap.usage();
        for (const api of API_NAMES) tap.sawEnd(api);
        expect(performance.now() - started).toBeLessThan(1_000);
      }),
      { examples: [[worst], [`${worst}}`], ['"usage":{'.repeat(400)]] },
    );
  });

  it("is not looked for where an API has no mark", () => {
    expect(tapOf([""]).sawEnd("speech")).toBe(true);
  });
});

describe("the events of a stream whose end alone is kept", () => {
  const event = (i: number) => `data: {"choices":[{"delta":{"content":"word ${i}"}}]}\n\n`;
  const stream = (count: number) => Array.from({ length: count }, (_, i) => event(i)).join("");

  it.each([1, 20, 1_000, 20_000])("are counted by how dense they are there: %i of them", (count) => {
    const events = tapOf([`${stream(count)}data: [DONE]\n\n`]).events() ?? 0;
    expect(Math.abs(events - count)).toBeLessThanOrEqual(0.05 * count);
  });

  it("are lines where it is made of lines, and unknown where nothing came or it was compressed", () => {
    expect(tapOf(Array.from({ length: 30 }, (_, i) => `{"message":{"content":"w${i}"}}\n`)).events()).toBe(30);
    expect(tapOf([]).events()).toBeNull();
    const packed = tapOf([stream(3)]);
    packed.packed = true;
    expect(packed.events()).toBeNull();
  });
});
