import { describe, expect, it } from "vitest";
import { JsonBody } from "../../src/body/json-body.ts";
import { replaceModel, type ScannedBody } from "../../src/body/scanned-body.ts";
import { bodyOf, mustFind, placedAt, refusalIn, scanJson } from "./in-pieces.ts";

const scan = (text: string): ScannedBody => mustFind(scanJson(text));
const refusal = (text: string | Buffer) => refusalIn(scanJson(text));

describe("what a scan finds", () => {
  it("finds the model at any place, and its bytes", () => {
    const text = '{"messages":[],"é":{"model":"inner"},\n\t"model" : "qwen3-8b" ,"stream":true}';
    const found = scan(text);
    expect(found.model).toBe("qwen3-8b");
    expect(Buffer.from(text).subarray(found.modelPlace.span.start, found.modelPlace.span.end).toString()).toBe(
      '"qwen3-8b"',
    );
    expect(found.stream).toBe(true);
  });

  it("reads escapes in keys and in values", () => {
    const found = scan('{"mod\\u0065l":"\\u0071wen\\/3\\n","str\\u0065am":false}');
    expect(found.model).toBe("qwen/3\n");
    expect(found.stream).toBe(false);
  });

  it("tells a missing stream from a false one", () => {
    expect(scan('{"model":"m"}').stream).toBeNull();
    expect(scan('{"model":"m","stream":"true"}').stream).toBeNull();
    expect(scan('{"model":"m","stream":null}').stream).toBeNull();
  });

  it("marks the answers among the messages, by their own role alone", () => {
    const messages = [
      { role: "user", content: "hi" },
      { content: [{ role: "assistant" }], role: "user" },
      { tool_calls: [], role: "assistant", content: null },
      "assistant",
      { role: "assistant", name: "x", nested: { role: "user" } },
      { role: "user", r: 1 },
    ];
    const text = JSON.stringify({ messages, model: "m" });
    const found = scan(text);
    const { start, end, beforeAnswers } = found.messages ?? { start: 0, end: 0, beforeAnswers: [] };
    const upTo = (place: number) => JSON.parse(`[${Buffer.from(text).subarray(start, place).toString()}]`) as unknown[];
    expect(upTo(end)).toEqual(messages);
    expect(beforeAnswers.map(upTo)).toEqual([messages.slice(0, 2), messages.slice(0, 4)]);
  });

  it("marks what a model made among the items of a Responses call", () => {
    const input = [
      { role: "user", content: "hi" },
      { type: "reasoning", summary: [] },
      { type: "function_call", name: "f", arguments: "{}" },
      { type: "function_call_output", output: "1" },
      { type: "message", role: "assistant", content: [] },
      { type: "message", role: "user", content: "more" },
    ];
    const text = JSON.stringify({ model: "m", input, instructions: "be brief" });
    const found = scan(text);
    const { start, beforeAnswers } = found.input ?? { start: 0, beforeAnswers: [] };
    const counts = beforeAnswers.map((end) => (JSON.parse(`[${text.slice(start, end)}]`) as unknown[]).length);
    expect(counts).toEqual([1, 2, 4]);
    expect(text.slice(found.system?.start, found.system?.end)).toBe('"be brief"');
  });

  it("takes no messages from something that is no array", () => {
    expect(scan('{"model":"m","messages":{"role":"assistant"}}').messages).toBeNull();
    expect(scan('{"model":"m"}').messages).toBeNull();
  });

  it("lets the last of a repeated key count, as JSON.parse does", () => {
    const found = scan('{"stream":true,"messages":[1],"model":"m","messages":[],"stream":false}');
    expect(found.stream).toBe(false);
    expect(found.messages).toBeNull();
  });
});

describe("what a scan refuses", () => {
  it.each([
    ["", /empty/],
    [" \n", /empty/],
    ["[]", /expected an object, found something else at byte 0/],
    ['"model"', /expected an object/],
    ['{"model":"m"', /expected "," or "}", the body ends at byte 12/],
    ['{"model":"m"} x', /expected the end, found something else at byte 14/],
    ['{"model":"m",}', /expected a key/],
    ['{"model" "m"}', /expected ":"/],
    ["{model:1}", /expected a key/],
    ['{"a":[1,]}', /expected a value/],
    ['{"a":[1 2]}', /expected "," or "\]"/],
    ['{"a":01}', /expected "," or "}"/],
    ['{"a":-}', /expected a digit/],
    ['{"a":1.}', /expected a digit/],
    ['{"a":1e+}', /expected a digit/],
    ['{"a":nul}', /expected a value/],
    ['{"a":"\\x"}', /unknown escape in a string at byte 6/],
    ['{"a":"\\u12g4"}', /four hex digits must follow/],
    ['{"a":"\n"}', /control character in a string at byte 6/],
    ['{"a":"open', /string is not closed at byte 10/],
    [`{"a":${"[".repeat(300)}`, /nested deeper than 200 levels at byte 204/],
    ["\u{feff}{}", /expected an object/],
  ])("%s", (text, message) => {
    expect(refusal(text)).toEqual({ message: expect.stringMatching(message), param: null });
  });

  it.each([501, 100_000])("a model's name of %i characters, and names the field", (length) => {
    const message = "`model` must not be longer than 500 characters";
    expect(refusal(`{"model":"${"x".repeat(length)}"}`)).toEqual({ message, param: "model" });
    expect(scan(`{"model":"${"\\u00e9".repeat(500)}"}`).model).toBe("é".repeat(500));
  });

  it.each([
    ['{"model":null}', /must be a string/],
    ['{"model":["m"]}', /must be a string/],
    ['{"model":""}', /must not be empty/],
    ['{"model":"a","mod\\u0065l":"a"}', /two `model` keys, at bytes 9 and 26/],
  ])("%s, and names the field", (text, message) => {
    expect(refusal(text)).toEqual({ message: expect.stringMatching(message), param: "model" });
  });

  it("keeps what it cannot judge: bytes of a string that are no UTF-8", () => {
    const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe, 0x80]), Buffer.from('","model":"m"}')]);
    expect(scanJson(body)).toMatchObject({ ok: true, model: "m" });
  });
});

describe("inside a long string", () => {
  const places = Array.from({ length: 13 }, (_, i) => i);

  it.each([
    ["a control character", "\u0001", "refused"],
    ["a backslash before a letter that is no escape", "\\x", "refused"],
    ["a quote that ends it early", '"', "refused"],
    ["an escaped quote", '\\"', "taken"],
    ["two backslashes", "\\\\", "taken"],
    ["a letter beyond ASCII", "é", "taken"],
    ["a delete character", "\u007f", "taken"],
  ])("%s is seen at every place", (_, piece, expected) => {
    const verdicts = places.flatMap((place) =>
      places.map((offset) => {
        const text = `{"a":"${"x".repeat(place)}${piece}${"y".repeat(12 - place)}","model":"m"}`;
        return scanJson(placedAt(text, offset), [offset + 1, 7]).ok ? "taken" : "refused";
      }),
    );
    expect(new Set(verdicts)).toEqual(new Set([expected]));
  });
});

describe("replacing the model", () => {
  const written = (text: string, model: string) => {
    const body = bodyOf(text);
    const result = replaceModel(body, scan(text), model).joined().toString();
    expect(body.joined().toString()).toBe(text);
    return result;
  };

  it("changes the bytes of that value and no others", () => {
    const text = '{ "a" : 1.0e2, "model" : "old" , "b":"\\u00e9" }';
    expect(written(text, 'new "é"')).toBe('{ "a" : 1.0e2, "model" : "new \\"é\\"" , "b":"\\u00e9" }');
  });

  it("gives the very body back when nothing changes", () => {
    const body = bodyOf('{"model":"same"}');
    expect(replaceModel(body, scan('{"model":"same"}'), "same")).toBe(body);
  });

  it("puts one before all others where none is named", () => {
    expect(scan(' {"content":"hi"}').model).toBeNull();
    expect(written(' { "content":"hi"}', "m")).toBe(' {"model":"m", "content":"hi"}');
    expect(written("{ }", "m")).toBe('{"model":"m" }');
  });
});

describe("speed", () => {
  const fastest = (runs: number, work: () => void) => {
    let best = Number.POSITIVE_INFINITY;
    for (let i = 0; i < runs; i += 1) {
      const start = performance.now();
      work();
      best = Math.min(best, performance.now() - start);
    }
    return best;
  };

  it("scans a long conversation in a small part of what JSON.parse would take from a request", () => {
    const content = "The quick brown fox said: “jumps\\over”.\n".repeat(55);
    const messages = Array.from({ length: 100 }, (_, i) => ({ role: i % 2 === 0 ? "user" : "assistant", content }));
    const body = Buffer.from(JSON.stringify({ messages, model: "m" }));
    expect(body.length).toBeGreaterThan(220_000);
    expect(fastest(200, () => mustScan(body))).toBeLessThan(5);
  });

  it("passes 50 MB of one string without a stall", () => {
    const body = Buffer.from(`{"image":"${"A".repeat(50 * 1_024 * 1_024)}","model":"m"}`);
    expect(fastest(5, () => mustScan(body))).toBeLessThan(1_000);
  });

  function mustScan(body: Buffer): void {
    const scanner = new JsonBody();
    scanner.push(body);
    mustFind(scanner.finish());
  }
});
