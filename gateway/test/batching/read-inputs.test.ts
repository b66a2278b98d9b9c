import { describe, expect, it } from "vitest";
import { readInputs } from "../../src/batching/read-inputs.ts";

const read = (text: string) => {
  const body = Buffer.from(text);
  const found = readInputs(body);
  return found === null
    ? null
    : { ...found, inputs: found.inputs.map(({ start, end }) => body.toString("utf8", start, end)) };
};

describe("the inputs of an embedding request", () => {
  it("are one text, texts, one list of ids or lists of ids, each as it is written", () => {
    expect(read('{"model":"m","input":"a \\u00e9\\"b"}')).toMatchObject({
      kind: "texts",
      inputs: ['"a \\u00e9\\"b"'],
      weights: [5],
    });
    expect(read('{ "input" : [ "a" , "bc" ] ,"model":"m"}')).toMatchObject({
      kind: "texts",
      inputs: ['"a"', '"bc"'],
      weights: [1, 2],
    });
    expect(read('{"input":[1, 2,3]}')).toMatchObject({ kind: "tokens", inputs: ["[1, 2,3]"], weights: [3] });
    expect(read('{"input":[[1],[2,3]]}')).toMatchObject({ kind: "tokens", inputs: ["[1]", "[2,3]"], weights: [1, 2] });
    expect(read('{"\\u0069nput":"a"}')).toMatchObject({ inputs: ['"a"'] });
  });

  it.each([
    '{"model":"m"}',
    '{"input":""}',
    '{"input":["a",""]}',
    '{"input":[]}',
    '{"input":[[]]}',
    '{"input":["a",[1]]}',
    '{"input":["a",1]}',
    '{"input":[1,"a"]}',
    '{"input":[-1]}',
    '{"input":[1.5]}',
    '{"input":{"image":"x"}}',
    '{"input":[{"text":"x"}]}',
    '{"input":null}',
    '{"input":"a","input":"b"}',
    '{"input":"a","user":"x","\\u0075ser":"y"}',
  ])("of %s cannot stand beside others", (text) => expect(read(text)).toBeNull());

  it("are told apart from the rest, whatever the order of its keys", () => {
    const rest = (text: string) => read(text)?.rest;
    expect(rest('{"model":"m","input":"a","dimensions":64}')).toBe(
      rest('{ "dimensions":64, "input":["b"], "model":"m" }'),
    );
    for (const other of [
      '{"model":"n","input":"a"}',
      '{"model":"m","input":"a","dimensions":32}',
      '{"model":"m","input":"a","user":"x"}',
    ]) {
      expect(rest(other)).not.toBe(rest('{"model":"m","input":"a"}'));
    }
  });
});
