import type { ReadInputs } from "./read-inputs.ts";

/** A request that is joined with others. */
export interface Joined {
  body: Buffer;
  read: ReadInputs;
}

/** One body for the inputs of all, in order: the first one's, with nothing of it written anew but `input`. */
export function joinInputs(calls: readonly [Joined, ...Joined[]]): Buffer {
  const [first] = calls;
  const pieces: Buffer[] = [first.body.subarray(0, first.read.input.start), OPEN];
  for (const { body, read } of calls) {
    for (const { start, end } of read.inputs) {
      if (pieces.length > 2) pieces.push(COMMA);
      pieces.push(body.subarray(start, end));
    }
  }
  pieces.push(CLOSE, first.body.subarray(first.read.input.end));
  return Buffer.concat(pieces);
}

const OPEN = Buffer.from("[");
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]");

/** What the headers of all (flat lists) have alike, flat, in the order of the first. */
export function commonHeaders(lists: readonly (readonly string[])[]): string[] {
  const [first = [], ...others] = lists.map(pairsOf);
  return first.filter((pair) => others.every((other) => other.some((its) => isSame(its, pair)))).flat();
}

type Pair = readonly [name: string, value: string];

function pairsOf(flat: readonly string[]): Pair[] {
  const pairs: Pair[] = [];
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i] ?? "", flat[i + 1] ?? ""]);
  return pairs;
}

function isSame([name, value]: Pair, [otherName, otherValue]: Pair): boolean {
  return value === otherValue && name.toLowerCase() === otherName.toLowerCase();
}
