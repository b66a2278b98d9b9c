import { z } from "zod";
import type { OwnCounts } from "../hub.ts";

/** No gateway has more under way than this, and sums of such counts are exact: others' numbers are no counts. */
const MOST = 1e9;

/** A count that another machine tells. */
export const countSchema = z.number().int().min(0).max(MOST);
/** The number of a step. */
export const stepSchema = z.number().int().min(0);

/** Counts by the field of a member's record in which they stand; none is zero but where it is told as a change. */
export type Fields = ReadonlyMap<string, number>;

/** Requests at a worker, whatever the model: what claims add to. */
export const workerField = (worker: string): string => `w:${worker}`;
/** Requests of a key. */
export const callerField = (name: string): string => `k:${name}`;
/** Requests at a worker for a model. Names of workers hold no control characters. */
const pairField = (worker: string, key: string): string => `p:${worker}\0${key}`;

export type MeantField =
  | { kind: "pair"; worker: string; key: string }
  | { kind: "caller"; name: string }
  /** A sum, or what belongs to the record itself. */
  | { kind: "other" };

export function meantBy(field: string): MeantField {
  if (field.startsWith("k:")) return { kind: "caller", name: field.slice(2) };
  const at = field.indexOf("\0");
  if (!field.startsWith("p:") || at < 0) return { kind: "other" };
  return { kind: "pair", worker: field.slice(2, at), key: field.slice(at + 1) };
}

/** The record's sums, of workers and of keys, and what the others are told: pairs and keys. */
export function fieldsOf(own: OwnCounts): { sums: Map<string, number>; told: Map<string, number> } {
  const sums = new Map<string, number>();
  const told = new Map<string, number>();
  for (const [worker, models] of own.counts()) {
    let sum = 0;
    for (const [key, count] of models) {
      if (count <= 0) continue;
      sum += count;
      told.set(pairField(worker, key), count);
    }
    if (sum > 0) sums.set(workerField(worker), sum);
  }
  for (const [name, count] of own.callers()) {
    if (count <= 0) continue;
    sums.set(callerField(name), count);
    told.set(callerField(name), count);
  }
  return { sums, told };
}
