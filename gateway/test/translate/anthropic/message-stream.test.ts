import { describe, expect, it } from "vitest";
import { recordedBody } from "../recorded-answer.ts";
import { chatEvents, delta, readMessage, translated, translateStream } from "./read-message.ts";

/** The body of a recorded answer. */
const recorded = (name: string) => recordedBody(name).body;
const AT = { wallMs: 0, sinceSentMs: 0 };
const usage = { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } };
const usageChunk = { choices: [], usage };

function call(index: number | undefined, args: string, name?: string, id?: string): object {
  return { tool_calls: [{ index, id, type: "function", function: { name, arguments: args } }] };
}

/** The message that these chunks come to, and how its stream was written. */
function streamed(chunks: readonly (object | string)[], body = {}) {
  const { text, problem } = translateStream([chatEvents(chunks)], body);
  return { message: readMessage(text), text, problem };
}

describe("a stream of chat as a message", () => {
  it("has text, its end and what it used", () => {
    const { message } = streamed([
      delta({ role: "assistant", content: null }),
      delta({ content: "Hel" }),
      delta({ content: "lo" }),
      delta({}, "stop"),
      usageChunk,
      "[DONE]",
    ]);
    expect(message).toEqual({
      id: "msg_r1",
      type: "message",
      role: "assistant",
      model: "m-own",
      content: [{ type: "text", text: "Hello" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: {
        input_tokens: 6,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 4,
        output_tokens: 3,
      },
    });
  });

  it.each(["reasoning_content", "reasoning"])("has what the model thinks before its text (%s)", (key) => {
    const chunks = [delta({ [key]: "h" }), delta({ [key]: "m" }), delta({ content: "Yes" }), delta({}, "stop")];
    expect(streamed(chunks).message?.content).toEqual([
      { type: "thinking", thinking: "hm", signature: "" },
      { type: "text", text: "Yes" },
    ]);
    const hidden = streamed(chunks, { thinking: { type: "disabled" } });
    expect(hidden.message?.content).toEqual([{ type: "text", text: "Yes" }]);
  });

  it("passes on each piece of the first call as it comes", () => {
    const { text } = translateStream([
      chatEvents([delta(call(0, "", "look", "c0")), delta(call(0, '{"a"')), delta(call(0, ":1}"))]),
    ]);
    expect(text).toContain(String.raw`"partial_json":"{\"a\""`);
    expect(text).toContain('"partial_json":":1}"');
  });

  it("sorts calls whose pieces come mixed", () => {
    const { message } = streamed([
      delta(call(0, '{"a":', "one", "c0")),
      delta(call(1, '{"b"', "two", "c1")),
      delta({ content: "and" }),
      delta(call(0, "1}")),
      delta(call(1, ":2}")),
      delta({}, "tool_calls"),
    ]);
    expect(message?.content).toEqual([
      { type: "tool_use", id: "c0", name: "one", input: { a: 1 } },
      { type: "tool_use", id: "c1", name: "two", input: { b: 2 } },
      { type: "text", text: "and" },
    ]);
    expect(message?.stop_reason).toBe("tool_use");
  });

  it("lets a second call through as soon as the first is complete", () => {
    const { text } = translateStream([
      chatEvents([delta(call(0, '{"a":1}', "one", "c0")), delta(call(1, '{"b', "two", "c1"))]),
    ]);
    expect(text).toContain(String.raw`"partial_json":"{\"b"`);
  });

  it.each([
    ["numbered 0 all of them", [call(0, '{"a":1}', "one", "c0"), call(0, '{"b":2}', "two", "c1")]],
    ["not numbered", [call(undefined, '{"a":1}', "one", "c0"), call(undefined, '{"b":2}', "two", "c1")]],
    [
      "in one piece",
      [{ tool_calls: [call(0, '{"a":1}', "one", "c0"), call(1, '{"b":2}', "two", "c1")].flatMap(callsOf) }],
    ],
    [
      "as objects",
      [{ tool_calls: [{ id: "c0", function: { name: "one", arguments: { a: 1 } } }] }, call(1, '{"b":2}', "two", "c1")],
    ],
    [
      "named in each piece",
      [
        call(0, '{"a"', "one", "c0"),
        call(0, ":1}", "one", "c0"),
        call(1, '{"b":2}', "two", "c1"),
        call(1, "", "two", "c1"),
      ],
    ],
  ])("tells two calls apart that come %s, whatever the reason for the end", (_, pieces) => {
    const { message } = streamed([...pieces.map((piece) => delta(piece)), delta({}, "stop"), "[DONE]"]);
    expect(message?.content).toEqual([
      { type: "tool_use", id: "c0", name: "one", input: { a: 1 } },
      { type: "tool_use", id: "c1", name: "two", input: { b: 2 } },
    ]);
    expect(message?.stop_reason).toBe("tool_use");
  });

  it("gives calls ids of their own where they have none", () => {
    const { message } = streamed([delta(call(0, "{}", "a")), delta(call(undefined, "{}", "b")), delta({}, "stop")]);
    expect(message?.content.map(({ id }) => id)).toEqual(["toolu_r1_0", "toolu_r1_1"]);
  });

  it.each([
    ["length", {}, "max_tokens", null],
    ["content_filter", {}, "refusal", null],
    ["eos_token", {}, "end_turn", null],
    ["stop", { stop_reason: "END" }, "stop_sequence", "END"],
    ["stop", { matched_stop: "END" }, "stop_sequence", "END"],
    ["stop", { matched_stop: 151_645 }, "end_turn", null],
  ])("ends by %s %j as %s", (reason, more, stop_reason, stop_sequence) => {
    const last = { choices: [{ index: 0, delta: {}, finish_reason: reason, ...more }] };
    const { message } = streamed([delta({ content: "x" }), last], { stop_sequences: ["END"] });
    expect(message).toMatchObject({ stop_reason, stop_sequence });
  });

  it("counts by llama.cpp's timings where no usage comes", () => {
    const last = { choices: [], timings: { prompt_n: 2, cache_n: 5, predicted_n: 7 } };
    expect(streamed([delta({ content: "x" }, "stop"), last]).message?.usage).toMatchObject({
      input_tokens: 2,
      cache_read_input_tokens: 5,
      output_tokens: 7,
    });
  });

  it.each([
    ["a turn's end", [delta({ content: "x" }), "[DONE]"], "end_turn"],
    ["a call's", [delta(call(0, "{}", "a")), "[DONE]"], "tool_use"],
    ["no word at all", ["[DONE]"], "end_turn"],
  ])("is complete at [DONE], whatever was told before: %s", (_, chunks, reason) => {
    const { message, problem } = streamed(chunks);
    expect([message?.stop_reason, problem]).toEqual([reason, null]);
  });

  it.each([
    ["breaks off", [delta({ content: "x" })]],
    ["says nothing at all", []],
  ])("is not ended for a worker that %s", (_, chunks) => {
    const { message, text, problem } = streamed(chunks);
    expect(message).toBeNull();
    expect(text).not.toContain("message_delta");
    expect(problem).toMatch(/before its answer was complete/);
  });

  it.each([
    ["an error", [delta({ content: "x" }), { error: { message: "out of memory" } }], /told an error: out of memory/],
    ["an end by error", [delta({ content: "x" }), delta({}, "error")], /by "error"/],
    ["nonsense", [delta({ content: "x" }), "{"], /no JSON object/],
    [
      "arguments without their end",
      [delta(call(0, '{"a":', "f", "c0")), delta({}, "tool_calls"), "[DONE]"],
      /no JSON object/,
    ],
    ["a call without a name", [delta(call(0, "{}")), delta({}, "tool_calls")], /not named/],
    [
      "more of a complete call",
      [delta(call(0, "{}", "a")), delta({ content: "x" }), delta(call(0, "{}"))],
      /were complete/,
    ],
  ])("has a problem with %s", (_, chunks, problem) => {
    const told = streamed([...chunks, delta({ content: "late" }, "stop")]);
    expect(told.problem).toMatch(problem);
    expect(told.text).not.toContain("late");
    expect(told.message).toBeNull();
  });

  it("hands on the beginning of a call whose rest the end of its length cut off", () => {
    const { text, problem } = streamed([delta(call(0, '{"a":', "f", "c0")), delta({}, "length"), "[DONE]"]);
    expect(problem).toBeNull();
    expect(text).toMatch(/"partial_json":"\{.*"stop_reason":"max_tokens"/s);
  });

  it("hears an error by its event's name", () => {
    const error = 'event: error\ndata: {"message":"gone"}\n\n';
    expect(translateStream([Buffer.from(error)]).problem).toBe("it told an error: gone");
  });

  it("counts for nothing behind its end", () => {
    const chunks = [delta({ content: "x" }, "stop"), "[DONE]", delta({ content: "y" }), "nonsense"];
    expect(streamed(chunks).message?.content).toEqual([{ type: "text", text: "x" }]);
  });
});

describe("recorded streams of a llama-server", () => {
  it("are two calls of a tool", () => {
    const { text, problem } = translateStream([recorded("tool-call-required-stream")]);
    const whole = translated({}, false).whole(JSON.parse(String(recorded("tool-call-required"))), AT);
    expect(problem).toBeNull();
    const message = readMessage(text);
    expect(message?.stop_reason).toBe("tool_use");
    expect(message?.usage).toMatchObject({ input_tokens: 1, cache_read_input_tokens: 202, output_tokens: 145 });
    // Another run of the same request: the ids differ.
    const withoutIds = (content: unknown) => JSON.stringify(content).replaceAll(/"id":"\w+"/g, "");
    expect(withoutIds(message?.content)).toBe(withoutIds((whole as { content: unknown }).content));
  });

  it("keep every character, cut at every byte", () => {
    const body = recorded("qwen-utf8-stream");
    const text = [...String(body).matchAll(/"content":("(?:[^"\\]|\\.)*")/g)]
      .map(([, quoted = ""]) => JSON.parse(quoted) as string)
      .join("");
    const pieces = Array.from({ length: body.length }, (_, i) => body.subarray(i, i + 1));
    for (const cut of [[body], pieces]) {
      expect(readMessage(translateStream(cut).text)?.content).toEqual([{ type: "text", text }]);
    }
  });

  it("are told short where the model's process was killed", () => {
    const { text, problem } = translateStream([recorded("router-child-killed-midstream")]);
    expect(problem).toMatch(/before its answer was complete/);
    expect(text).not.toContain("message_stop");
  });
});

describe("a whole answer of chat as a message", () => {
  it("is the recorded one", () => {
    expect(translated({}, false).whole(JSON.parse(String(recorded("single-chat"))), AT)).toMatchObject({
      content: [{ type: "text", text: expect.stringContaining("Lily") }],
      stop_reason: "max_tokens",
      usage: { input_tokens: 5, output_tokens: 40, cache_read_input_tokens: 0 },
    });
  });

  it("has a reason for its end where the worker told none, by what it holds", () => {
    const reasonOf = (message: object) => translated({}, false).whole({ choices: [{ message }] }, AT);
    expect(reasonOf({ content: "x" })).toMatchObject({ stop_reason: "end_turn", model: "m" });
    expect(reasonOf(call(0, "{}", "a"))).toMatchObject({ stop_reason: "tool_use" });
  });

  it("wraps arguments that are no JSON object", () => {
    const calls = ['{"a":', "[1]", ""].map((args, i) => ({ id: `c${i}`, function: { name: "f", arguments: args } }));
    const answer = { choices: [{ message: { content: null, tool_calls: calls }, finish_reason: "tool_calls" }] };
    const { content } = translated({}, false).whole(answer, AT) as { content: { input: unknown }[] };
    expect(content.map(({ input }) => input)).toEqual([{ INVALID_JSON: '{"a":' }, { INVALID_JSON: "[1]" }, {}]);
  });

  it.each([
    [{ error: { message: "no" } }, "it told an error: no"],
    [{ choices: [] }, "an answer that says nothing"],
    [[], "an answer that is no JSON object"],
  ])("is none: %j", (answer, problem) => {
    expect(() => translated({}, false).whole(answer, AT)).toThrow(problem);
  });
});

function callsOf(piece: object): unknown[] {
  return (piece as { tool_calls: unknown[] }).tool_calls;
}
