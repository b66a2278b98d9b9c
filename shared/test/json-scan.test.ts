import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { replaceModel, type ScannedBody, scanBody } from "../src/json-scan.ts";

function scan(text: string): ScannedBody {
  const result = scanBody(Buffer.from(text));
  if (!result.ok) throw new Error(`refused: ${result.message}`);
  return result;
}

function refusal(text: string | Buffer): { message: string; param: string | null } {
  const result = scanBody(Buffer.from(text));
  if (result.ok) throw new Error(`taken: ${result.model}`);
  return { message: result.message, param: result.param };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("what a scan finds", () => {
  it("finds the model at any place, and its bytes", () => {
    const text = '{"messages":[],"é":{"model":"inner"},\n\t"model" : "qwen3-8b" ,"stream":true}';
    const found = scan(text);
    expect(found.model).toBe("qwen3-8b");
    expect(Buffer.from(text).subarray(found.modelStart, found.modelEnd).toString()).toBe('"qwen3-8b"');
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
    ['{"prompt":"hi"}', /no `model`/],
    ['{"model":null}', /must be a string/],
    ['{"model":["m"]}', /must be a string/],
    ['{"model":""}', /must not be empty/],
    ['{"model":"a","mod\\u0065l":"a"}', /two `model` keys, at bytes 9 and 26/],
  ])("%s, and names the field", (text, message) => {
    expect(refusal(text)).toEqual({ message: expect.stringMatching(message), param: "model" });
  });

  it("keeps what it cannot judge: bytes of a string that are no UTF-8", () => {
    const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe, 0x80]), Buffer.from('","model":"m"}')]);
    expect(scanBody(body)).toMatchObject({ ok: true, model: "m" });
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
        return scanBody(placedAt(text, offset)).ok ? "taken" : "refused";
      }),
    );
    expect(new Set(verdicts)).toEqual(new Set([expected]));
  });
});

describe("replacing the model", () => {
  it("changes the bytes of that value and no others", () => {
    const body = Buffer.from('{ "a" : 1.0e2, "model" : "old" , "b":"\\u00e9" }');
    const result = scanBody(body);
    if (!result.ok) throw new Error(result.message);
    const replaced = replaceModel(body, result, 'new "é"');
    expect(replaced.toString()).toBe('{ "a" : 1.0e2, "model" : "new \\"é\\"" , "b":"\\u00e9" }');
    expect(body.toString()).toContain('"old"');
  });

  it("gives the very body back when nothing changes", () => {
    const body = Buffer.from('{"model":"same"}');
    const result = scanBody(body);
    if (!result.ok) throw new Error(result.message);
    expect(replaceModel(body, result, "same")).toBe(body);
  });
});

const letters = (text: string) => text.split("");

/** Objects as callers might send them: any JSON, and often the keys that matter. */
const json = fc.jsonValue({ maxDepth: 4, stringUnit: "binary" });
const key = fc.oneof(fc.constantFrom("model", "stream", "messages", "role"), fc.string({ unit: "binary" }));
const object = fc.dictionary(key, fc.oneof(json, fc.array(fc.dictionary(key, json)), fc.boolean()), { maxKeys: 8 });
/** One byte changed, taken out or put in. */
const mutation = fc.record({
  at: fc.nat(),
  how: fc.constantFrom("change", "drop", "insert", "cut"),
  with: fc.oneof(fc.constantFrom(...letters('{}[]",:\\u0e-+.tfn \n\u0001')), fc.string({ minLength: 1, maxLength: 1 })),
});

function mutated(text: string, change: { at: number; how: string; with: string }): string {
  const at = text.length === 0 ? 0 : change.at % (text.length + 1);
  if (change.how === "cut") return text.slice(0, at);
  return (
    text.slice(0, at) + (change.how === "drop" ? "" : change.with) + text.slice(change.how === "insert" ? at : at + 1)
  );
}

/** Where a buffer starts inside its memory must make no difference. */
function placedAt(text: string, offset: number): Buffer {
  return Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]).subarray(offset);
}

describe("beside JSON.parse", () => {
  it("agrees on what is JSON, for any value and for mutated text", () => {
    fc.assert(
      fc.property(
        object,
        fc.array(mutation, { maxLength: 2 }),
        fc.nat(7),
        fc.boolean(),
        (value, changes, offset, spaced) => {
          const text = changes.reduce(mutated, JSON.stringify(value, null, spaced ? 1 : 0));
          // A lone surrogate does not survive the way into bytes.
          fc.pre(Buffer.from(text).toString() === text);
          const result = scanBody(placedAt(text, offset));
          const parsed: unknown = isJson(text) ? JSON.parse(text) : undefined;
          const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
          // Refused for its form, or for a model that is missing, empty, repeated or no string.
          const agreed = result.ok
            ? (parsed as { model: unknown }).model === result.model
            : (result.param === "model") === isObject;
          expect(agreed).toBe(true);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("agrees on any text at all", () => {
    const soup = fc.string({ unit: fc.constantFrom(...letters('{}[]",:\\/u0012eE-+.truefalsn \n\t')), maxLength: 30 });
    fc.assert(
      fc.property(soup, fc.nat(3), (text, offset) => {
        const wrapped = `{"model":"m","a":${text}}`;
        const result = scanBody(placedAt(wrapped, offset));
        const repeated = !result.ok && result.param === "model";
        expect(result.ok || repeated).toBe(isJson(wrapped));
      }),
      { numRuns: 5_000 },
    );
  });

  it("finds what JSON.parse finds, and replaces nothing but the model", () => {
    const body = fc.tuple(
      object,
      fc.string({ minLength: 1, unit: "grapheme" }),
      fc.string({ minLength: 1 }),
      fc.nat(7),
    );
    fc.assert(
      fc.property(body, ([rest, model, other, offset]) => {
        const value = { ...rest, model };
        const bytes = placedAt(JSON.stringify(value), offset);
        const result = scanBody(bytes);
        if (!result.ok) throw new Error(result.message);
        expect(result.model).toBe(model);
        expect(result.stream).toBe(typeof rest["stream"] === "boolean" ? rest["stream"] : null);
        const messages: unknown[] = Array.isArray(rest["messages"]) ? rest["messages"] : [];
        const upTo = (end: number): unknown =>
          JSON.parse(`[${bytes.toString("utf8", result.messages?.start ?? end, end)}]`);
        expect(upTo(result.messages?.end ?? 0)).toEqual(JSON.parse(JSON.stringify(messages)));
        const answers = messages.flatMap((message, i) =>
          i > 0 && (message as { role?: unknown } | null)?.role === "assistant" ? [messages.slice(0, i)] : [],
        );
        expect((result.messages?.beforeAnswers ?? []).map(upTo)).toEqual(JSON.parse(JSON.stringify(answers)));
        expect(JSON.parse(replaceModel(bytes, result, other).toString())).toEqual(
          JSON.parse(JSON.stringify({ ...value, model: other })),
        );
      }),
      { numRuns: 1_000 },
    );
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
    const result = scanBody(body);
    if (!result.ok) throw new Error(result.message);
  }
});
