import { JsonSpans, type Member, type Span } from "./json-spans.ts";
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
  const document = json.document();
  const members = document === null ? null : json.members(document);
  const data = members?.filter(({ key }) => key === "data");
  const list = data?.[0];
  if (members === null || list === undefined || data?.length !== 1) return null;
  const wanted = portions.reduce((sum, { inputs }) => sum + inputs, 0);
  const vectors = vectorsOf(json, list, wanted);
  if (vectors === null) return null;
  const usage = usageEdits(json, members, portions);
  let from = 0;
  return portions.map(({ inputs }, i) => {
    const own = vectors.slice(from, from + inputs);
    from += inputs;
    const edits = [...(usage[i] ?? []), { ...list, pieces: elementsOf(answer, own) }];
    return edited(answer, edits);
  });
}

interface Vector {
  element: Span;
  /** The value of its `index`; null: it has none. */
  index: Span | null;
}

/** The elements by their places (1). */
function vectorsOf(json: JsonSpans, list: Span, wanted: number): Vector[] | null {
  const elements = json.elements(list);
  if (elements === null || elements.length !== wanted) return null;
  const places: Vector[] = [];
  let indexed = 0;
  for (const [i, element] of elements.entries()) {
    const members = json.members(element);
    if (members === null || !members.some(({ key }) => key === "embedding")) return null;
    const index = members.findLast(({ key }) => key === "index") ?? null;
    const place = index === null ? i : json.count(index);
    if (place === null || place >= wanted || places[place] !== undefined) return null;
    if (index !== null) indexed += 1;
    places[place] = { element, index };
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

/** What changes in `usage` for each caller (2). */
function usageEdits(json: JsonSpans, members: readonly Member[], portions: readonly Portion[]): Edit[][] {
  const edits: Edit[][] = portions.map(() => []);
  const weights = portions.map(({ weight }) => weight);
  for (const usage of members.filter(({ key }) => key === "usage")) shareCounts(json, usage, weights, edits);
  return edits;
}

function shareCounts(json: JsonSpans, object: Span, weights: readonly number[], edits: Edit[][]): void {
  const members = json.members(object) ?? [];
  const prompt = members.find(({ key }) => key === "prompt_tokens");
  const promptTokens = prompt === undefined ? null : json.count(prompt);
  for (const member of members) {
    const count = json.count(member);
    if (count === null) {
      if (json.first(member) === "{") shareCounts(json, member, weights, edits);
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
