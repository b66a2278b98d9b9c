import { FarmError, HEADER } from "@farmgate/shared";

/** What the farm or a key has for requests that say nothing themselves. */
export interface DeadlineWishes {
  /** Milliseconds to the first byte; 0: none. null: as the farm has it. */
  firstByte: number | null;
  relax: boolean | null;
}

/** What the key of that name has; null: nothing, or there is none. */
export function wishesOfKey(
  { keys }: { keys: readonly { name: string; deadlines: DeadlineWishes }[] },
  name: string,
): DeadlineWishes | null {
  return keys.find((key) => key.name === name)?.deadlines ?? null;
}

/** Milliseconds for the first byte: what the request asks for, else its key, else the farm; null: nobody does. */
export function askedMs(header: number | null, key: DeadlineWishes | null, farm: DeadlineWishes): number | null {
  if (header !== null) return header;
  const byDefault = key?.firstByte ?? farm.firstByte ?? 0;
  return byDefault > 0 ? byDefault : null;
}

/** Whether a deadline that nobody can meet is made longer, in that order too. Throws `invalid_request`. */
export function mayRelax(header: unknown, key: DeadlineWishes | null, farm: DeadlineWishes): boolean {
  if (header === undefined) return key?.relax ?? farm.relax ?? false;
  if (header === "1" || header === "0") return header === "1";
  throw new FarmError("invalid_request", `${HEADER.deadlineRelax} must be 1 or 0.`);
}
