import type { Span } from "@farmgate/shared";
import { JsonSpans } from "./json-spans.ts";
import { shareOut } from "./share-out.ts";

/** What one request of a joined one brought. */
export interface Portion {
  /** How many inputs. */
  inputs: number;
  /** Its share of the tokens. */
  weight: number;
}

/** A place in the answer's bytes, and what stands there for one caller. */
interface Edit extends Span {
  pieces: readonly Buffer[];
}

/**
 * The answer to a joined embedding request as the answers of those who were joined, in their order; null where it is
 * not what it has to be: one vector for each input, each place taken once.
 * Bytes are cut out, not written anew: vectors (numbers or base64) and whatever else an engine tells stay as they are.
 * (1) Vectors stand where their `index` says, or in the order of the list where none has one; each caller's count from 0.
 * (2) Whole numbers of `usage` are shared out: a list of token ids has its own length, a text its share by characters.
 */
export function splitAnswer(answer: Buffer, portions: readonly Portion[]): Buffer[] | null {
  const json = new JsonSpans(answer);
  const edits: Edit[][] = portions.map(() => []);
  const weights = portions.map(({ weight }) => weight);
  const lists: { list: Span; vectors: Vector[] }[] = [];
  const isObject = json.document((key, start) => {
    const vectors: Vector[] = [];
    const end = key === "data" ? readVectors(json, start, vectors) : json.valueEnd(start);
    if (key === "data") lists.push({ list: { start, end }, vectors });
    if (key === "usage" && end >= 0) shareCounts(json, { start, end }, weights, edits, USAGE_DEPTH);
    return end;
  });
  const [found, ...more] = lists;
  if (!isObject || found === undefined || more.length > 0) return null;
  const wanted = portions.reduce((sum, { inputs }) => sum + inputs, 0);
  const places = placesOf(json, found.vectors, wanted);
  if (places === null) return null;
  let from = 0;
  return portions.map(({ inputs }, i) => {
    const own = places.slice(from, from + inputs);
    from += inputs;
    return edited(answer, [...(edits[i] ?? []), { ...found.list, pieces: elementsOf(answer, own) }]);
  });
}

interface Vector {
  element: Span;
  /** The value of its `index`; null: it has none. */
  index: Span | null;
}

/** Reads a list of vectors that starts here; tells where it ends, -1: it is none. */
function readVectors(json: JsonSpans, start: number, vectors: Vector[]): number {
  return json.array(start, (at) => {
    let index: Span | null = null;
    let hasVector = false;
    const elementEnd = json.object(at, (key, valueStart) => {
      const valueEnd = json.valueEnd(valueStart);
      if (key === "index") index = { start: valueStart, end: valueEnd };
      if (key === "embedding") hasVector = true;
      return valueEnd;
    });
    vectors.push({ element: { start: at, end: elementEnd }, index });
    return hasVector ? elementEnd : -1;
  });
}

/** The vectors by their places (1). */
function placesOf(json: JsonSpans, vectors: readonly Vector[], wanted: number): Vector[] | null {
  if (vectors.length !== wanted) return null;
  const places: Vector[] = [];
  let indexed = 0;
  for (const [i, vector] of vectors.entries()) {
    const place = vector.index === null ? i : json.count(vector.index);
    if (place === null || place >= wanted || places[place] !== undefined) return null;
    if (vector.index !== null) indexed += 1;
    places[place] = vector;
  }
  return indexed === 0 || indexed === wanted ? places : null;
}

/** A list with these elements, counted from 0. */
function elementsOf(answer: Buffer, vectors: readonly Vector[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (const [i, { element, index }] of vectors.entries()) {
    pieces.push(Buffer.from(i === 0 ? "[" : ","));
    if (index === null) pieces.push(answer.subarray(element.start, element.end));
    else {
      pieces.push(answer.subarray(element.start, index.start), Buffer.from(String(i)));
      pieces.push(answer.subarray(index.end, element.end));
    }
  }
  pieces.push(Buffer.from("]"));
  return pieces;
}

/** Levels of `usage` that are read: counts, and details of them. */
const USAGE_DEPTH = 3;

/** What changes in `usage` for each caller (2). */
function shareCounts(json: JsonSpans, object: Span, weights: readonly number[], edits: Edit[][], depth: number): void {
  if (depth === 0) return;
  const members = json.members(object) ?? [];
  const prompt = members.find(({ key }) => key === "prompt_tokens");
  const promptTokens = prompt === undefined ? null : json.count(prompt);
  for (const member of members) {
    const count = json.count(member);
    if (count === null) {
      if (json.first(member) === "{") shareCounts(json, member, weights, edits, depth - 1);
      continue;
    }
    const parts = shareOfTotal(member.key === "total_tokens" ? promptTokens : null, count, weights);
    const { start, end } = member;
    for (const [i, part] of parts.entries()) edits[i]?.push({ start, end, pieces: [Buffer.from(String(part))] });
  }
}

/** Nobody's total is less than his prompt: only what goes beyond all prompts is shared out on its own. */
function shareOfTotal(promptTokens: number | null, count: number, weights: readonly number[]): number[] {
  if (promptTokens === null || promptTokens > count) return shareOut(count, weights);
  const beyond = shareOut(count - promptTokens, weights);
  return shareOut(promptTokens, weights).map((part, i) => part + (beyond[i] ?? 0));
}

function edited(answer: Buffer, edits: readonly Edit[]): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    pieces.push(answer.subarray(at, edit.start));
    pieces.push(...edit.pieces);
    at = edit.end;
  }
  pieces.push(answer.subarray(at));
  return Buffer.concat(pieces);
}
