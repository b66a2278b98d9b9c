import type { OfOthers } from "../room/hub-room.ts";
import type { SentCounts } from "./messages.ts";

export function sentCounts({ counts, callers }: OfOthers): SentCounts {
  return { counts: Array.from(counts, ([worker, pairs]) => [worker, [...pairs]]), callers: [...callers] };
}

export function readCounts({ counts, callers }: SentCounts): OfOthers {
  return { counts: new Map(counts.map(([worker, pairs]) => [worker, new Map(pairs)])), callers: new Map(callers) };
}
