import { seededRandom } from "@farmgate/shared";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { valueForSchema } from "../../src/decide/generate-json.ts";

const made = (schema: unknown, seed = 1) => valueForSchema(schema, seededRandom(seed));

test("numbers stay in their range and texts in their length", () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: -50, max: 50 }), fc.nat(40), (seed, minimum, span) => {
      const number = made({ type: "integer", minimum, maximum: minimum + span }, seed) as number;
      expect(Number.isInteger(number) && number >= minimum && number <= minimum + span).toBe(true);
      const text = made({ type: "string", minLength: span, maxLength: span + 3 }, seed) as string;
      expect(text.length >= span && text.length <= span + 3).toBe(true);
    }),
  );
});

test("objects, lists, choices, constants and references", () => {
  const schema = {
    type: "object",
    properties: {
      unit: { enum: ["C", "F"] },
      kind: { const: 7 },
      tags: { type: "array", items: { type: "boolean" }, minItems: 2 },
      place: { $ref: "#/$defs/place" },
      either: { anyOf: [{ type: "null" }, { type: "string" }] },
    },
    $defs: { place: { type: "object", properties: { name: { type: ["string", "null"] } } } },
  };
  expect(made(schema)).toEqual({
    unit: expect.stringMatching(/^[CF]$/),
    kind: 7,
    tags: [expect.any(Boolean), expect.any(Boolean)],
    place: { name: expect.any(String) },
    either: null,
  });
});

test("a schema that holds itself ends, and nonsense is answered with a word", () => {
  const tree = { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] };
  expect(() => JSON.stringify(made(tree))).not.toThrow();
  expect(made(null)).toEqual(expect.any(String));
  expect(made("what")).toEqual(expect.any(String));
});
