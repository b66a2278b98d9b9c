import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { replaceModel, type TurnsSpan } from "../../src/body/scanned-body.ts";
import { bodyOf, cuts, mustFind, placedAt, scanJson } from "./in-pieces.ts";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const letters = (text: string) => text.split("");

/** Objects as callers might send them: any JSON, and often the keys that matter. */
const json = fc.jsonValue({ maxDepth: 4, stringUnit: "binary" });
const names = ["model", "stream", "messages", "input", "system", "instructions", "role", "type"];
const key = fc.oneof(fc.constantFrom(...names), fc.string({ unit: "binary" }));
const word = fc.constantFrom("assistant", "user", "function_call", "reasoning", "message");
const turn = fc.dictionary(key, fc.oneof(word, json), { maxKeys: 4 });
const object = fc.dictionary(key, fc.oneof(json, fc.array(fc.oneof(turn, json)), fc.boolean()), { maxKeys: 8 });
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

describe("a scan beside JSON.parse", () => {
  it("agrees on what is JSON, for any value and for mutated text", () => {
    fc.assert(
      fc.property(
        object,
        fc.array(mutation, { maxLength: 2 }),
        fc.nat(7),
        fc.boolean(),
        cuts,
        (value, changes, offset, spaced, sizes) => {
          const text = changes.reduce(mutated, JSON.stringify(value, null, spaced ? 1 : 0));
          // A lone surrogate does not survive the way into bytes.
          fc.pre(Buffer.from(text).toString() === text);
          const result = scanJson(placedAt(text, offset), sizes);
          const parsed: unknown = isJson(text) ? JSON.parse(text) : undefined;
          const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
          // Refused for its form, or for a model that is missing, empty, repeated or no string.
          const agreed = result.ok
            ? isObject && ((parsed as { model?: unknown }).model ?? null) === result.model
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
      fc.property(soup, fc.nat(3), cuts, (text, offset, sizes) => {
        const wrapped = `{"model":"m","a":${text}}`;
        const result = scanJson(placedAt(wrapped, offset), sizes);
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
      cuts,
    );
    fc.assert(
      fc.property(body, ([rest, model, other, offset, sizes]) => {
        const value = { ...rest, model };
        const bytes = placedAt(JSON.stringify(value), offset);
        const result = mustFind(scanJson(bytes, sizes));
        expect(result.model).toBe(model);
        expect(result.stream).toBe(typeof rest["stream"] === "boolean" ? rest["stream"] : null);
        for (const field of ["messages", "input"] as const) {
          expect(turnsAt(bytes, result[field])).toEqual(turnsOf(rest[field]));
        }
        const { system } = result;
        const last = Object.keys(rest).findLast((name) => name === "system" || name === "instructions");
        const found = system === null ? undefined : JSON.parse(bytes.toString("utf8", system.start, system.end));
        expect(found).toEqual(last === undefined ? undefined : plain(rest[last]));
        expect(JSON.parse(replaceModel(bodyOf(bytes, sizes), result, other).joined().toString())).toEqual(
          plain({ ...value, model: other }),
        );
      }),
      { numRuns: 1_000 },
    );
  });
});

/** As JSON has it: -0 is 0. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** All turns, and those before each answer. */
interface FoundTurns {
  all: unknown[];
  before: unknown[][];
}

function turnsOf(value: unknown): FoundTurns {
  const all = Array.isArray(value) ? (plain(value) as unknown[]) : [];
  const isAnswer = (turn: unknown) => {
    if (typeof turn !== "object" || turn === null || Array.isArray(turn)) return false;
    const { role, type } = turn as { role?: unknown; type?: unknown };
    return role === "assistant" || type === "function_call" || type === "reasoning";
  };
  return { all, before: all.flatMap((turn, i) => (i > 0 && isAnswer(turn) ? [all.slice(0, i)] : [])) };
}

function turnsAt(bytes: Buffer, span: TurnsSpan | null): FoundTurns {
  if (span === null) return { all: [], before: [] };
  const upTo = (end: number) => JSON.parse(`[${bytes.toString("utf8", span.start, end)}]`) as unknown[];
  return { all: upTo(span.end), before: span.beforeAnswers.map(upTo) };
}
