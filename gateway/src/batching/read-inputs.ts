import type { Span } from "@farmgate/shared";
import { JsonSpans, type Member } from "./json-spans.ts";

/** An embedding request taken apart: its inputs, and all the rest. */
export interface ReadInputs {
  /** Texts and lists of token ids cannot stand in one request. */
  kind: "texts" | "tokens";
  /** Each input as it is written. */
  inputs: readonly Span[];
  /** How much each of them is of the whole, by characters or tokens; at least 1. */
  weights: readonly number[];
  /** The value of `input`. */
  input: Span;
  /** Everything else that the request says, whatever the order of its keys: the same text for the same wishes. */
  rest: string;
}

/**
 * Takes the body of an embedding request apart; null where its inputs cannot be put beside those of others.
 * (1) `input` is one text or a list of them; or one list of token ids, or a list of such lists. (2) An empty one is for
 * the worker to refuse. (3) Anything else is an engine's own: a picture, an object, texts and tokens mixed. (4) What
 * is there twice means what the worker takes it for.
 */
export function readInputs(body: Buffer): ReadInputs | null {
  const json = new JsonSpans(body);
  const members: Member[] = [];
  const isObject = json.document((key, start) => {
    const end = json.valueEnd(start);
    members.push({ key, start, end });
    return end;
  });
  if (!isObject || new Set(members.map(({ key }) => key)).size < members.length) return null; // (4)
  const input = members.find(({ key }) => key === "input");
  if (input === undefined) return null;
  const rest = members
    .filter((member) => member !== input)
    .map((member) => [member.key, json.raw(member)])
    .sort(([a = ""], [b = ""]) => (a < b ? -1 : 1));
  const read = inputsOf(json, input);
  return read === null ? null : { ...read, input, rest: JSON.stringify(rest) };
}

function inputsOf(json: JsonSpans, input: Span): Pick<ReadInputs, "kind" | "inputs" | "weights"> | null {
  const listed = json.elements(input);
  const inputs = listed === null || isTokens(json, listed) ? [input] : listed; // (1)
  if (inputs.length === 0) return null; // (2)
  const texts = inputs.map((span) => json.text(span));
  const weights: number[] = [];
  if (texts.every((text) => text !== null)) {
    for (const { length } of texts) weights.push(length);
  } else {
    for (const span of inputs) {
      const ids = json.elements(span);
      if (ids === null || (ids.length > 0 && !isTokens(json, ids))) return null; // (3)
      weights.push(ids.length);
    }
  }
  if (weights.includes(0)) return null; // (2)
  return { kind: texts[0] === null ? "tokens" : "texts", inputs, weights };
}

function isTokens(json: JsonSpans, elements: readonly Span[]): boolean {
  return elements.length > 0 && elements.every((element) => json.count(element) !== null);
}
