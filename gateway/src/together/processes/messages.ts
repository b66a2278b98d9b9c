import type { Claim, Claimed } from "../hub.ts";
import type { News, Question } from "../news.ts";

/** Counts by worker and model, and by key, as they go through a channel of JSON. */
export interface SentCounts {
  counts: [worker: string, pairs: [key: string, count: number][]][];
  callers: [name: string, count: number][];
}

/** What a member tells the one who keeps the room. */
export type ToRoom =
  /** Comes first, with all of its counts. */
  | ({ kind: "join" } & SentCounts)
  /** What is changed; up to which claim its answers are in it. */
  | ({ kind: "counts"; answered: number } & SentCounts)
  | { kind: "claim"; number: number; claim: Claim }
  | { kind: "news"; news: News }
  | { kind: "ask"; number: number; question: Question }
  /** `value` absent: it has nothing to say. */
  | { kind: "answer"; to: string; number: number; value?: unknown }
  | { kind: "ask-lease"; name: string }
  | { kind: "give-up-lease"; name: string }
  | { kind: "leave" };

export type FromRoom =
  | { kind: "members"; members: string[] }
  | { kind: "claimed"; number: number; claimed: Claimed }
  /** What the others have now where that has changed; with `isAll` everything. */
  | ({ kind: "others"; isAll?: true } & SentCounts)
  | { kind: "news"; from: string; news: News }
  | { kind: "question"; from: string; number: number; question: Question }
  | { kind: "answer"; from: string; number: number; value: unknown }
  /** No more answers come. */
  | { kind: "answered"; number: number }
  /** All leases that it holds, by name, with their fences. */
  | { kind: "leases"; held: [name: string, fence: number][] };

export interface PortEvents<In> {
  messages(messages: readonly In[]): void;
  /** The other end can be reached, for the first time or again. */
  opened(): void;
  /** It cannot any more; what was sent last may be lost. */
  closed(): void;
}

/** One end of an ordered channel. */
export interface Port<In, Out> {
  readonly isOpen: boolean;
  /** Nothing happens where it is not open. */
  send(messages: readonly Out[]): void;
  listen(events: PortEvents<In>): void;
}
