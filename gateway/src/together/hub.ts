import type { News, Question } from "./news.ts";

/** Requests under way at workers, by the worker's name and then by `nameKey` of the model. */
export type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** A worker at which a place is wanted. */
export interface WantedPlace {
  worker: string;
  /** Requests at once, of the whole farm; 0: no cap. */
  cap: number;
  /** What `load` divides by; above 0. */
  capacity: number;
}

/** What a key is held to, farm-wide. */
export interface KeyLimits {
  /** The key's name. */
  name: string;
  /** 0: no limit. */
  maxConcurrent: number;
  /** 0: no limit. */
  requestsPerMinute: number;
}

/** What a request needs before it may go; all of it is taken in one step, or what is told. */
export interface Claim {
  /** `nameKey` of the model. */
  key: string;
  /** Best first; none: only the key's place is wanted. */
  places: readonly WantedPlace[];
  /** least-loaded: of those below their caps the one with the least load for its capacity, the first of equals. */
  take: "first" | "least-loaded";
  /** null: the key has no limits, or its place is held already. */
  caller: KeyLimits | null;
}

/** What is left of a key's minute: requests, and milliseconds until all of it is there again. */
export interface Allowance {
  remaining: number;
  resetMs: number;
}

export type Claimed =
  /** `worker` null: none was asked for. */
  | { kind: "taken"; worker: string | null; allowance: Allowance | null }
  /** All are at their caps; the key's place is held from now on. */
  | { kind: "full"; allowance: Allowance | null }
  /** The key has reached its limit; nothing was taken. `retryMs` null: when one of its requests ends. */
  | { kind: "limited"; by: "concurrent" | "rate"; retryMs: number | null }
  /** The hub is away: each decides by what it sees. */
  | { kind: "alone" };

/** What only one member may do at a time. */
export interface Lease {
  /**
   * A number that grows with each new holder, while it is held here; null: it is not. Sent along with what is ordered,
   * so that an order of an earlier holder can be refused. It must grow over restarts of whatever counts it too, or else
   * nobody's orders would be taken for a while: so it is at least the wall time in milliseconds when it was won.
   */
  readonly fence: number | null;
  /** Told when it is won and when it is lost. */
  onChange(listener: () => void): void;
  /** Asks the hub whether it is still held here by this `fence`; false: it is not, or that cannot be known now. */
  confirm(): Promise<boolean>;
  /** Gives it up for good. */
  release(): Promise<void>;
}

/** What the others have under way. While they cannot be heard it is what was known last, until that is too old. */
export interface OthersView {
  worker(name: string): number;
  pair(name: string, key: string): number;
  pairs(name: string): ReadonlyMap<string, number>;
  /** Requests of a key. */
  caller(name: string): number;
}

/** What a member has under way itself; read whenever the hub tells it. A reader may keep what it gets. */
export interface OwnCounts {
  counts(): Counts;
  /** Requests under way by the names of limited keys: those whose place was claimed, or taken while the hub was away. */
  callers(): ReadonlyMap<string, number>;
}

/**
 * Where several gateways meet that act as one: processes of one host by their primary process, hosts by Redis. Nothing
 * here rejects or throws because the hub is away.
 */
export interface Hub {
  /** Of this member, unlike that of any other and of any earlier run. */
  readonly id: string;
  /** false: this gateway is the only one there will ever be, and nothing needs to be told, asked or claimed. */
  readonly isShared: boolean;
  /** Every place is claimed, so that the order by load is exact; else only those at workers with a cap. */
  readonly claimsAll: boolean;
  /** Why the others cannot be heard, for people; null: they can. */
  readonly trouble: string | null;
  /** The members that live, this one among them, sorted; while the hub is away as they were last known. */
  members(): readonly string[];
  readonly others: OthersView;
  /** Begins. What is told and asked before is lost. */
  start(own: OwnCounts): Promise<void>;
  /**
   * `members`, `trouble` or `others` changed: who waits may look again. Gathered. Call the result to end it. Where a
   * claim was `full` although `others` tells of room, they may agree again without any change.
   */
  onChange(listener: () => void): () => void;

  /**
   * What is taken is counted at the hub for this member at once. It becomes an own count in the turn in which the claim
   * is answered: own counts that are read later have it, those read before have not, and the hub goes by that. Who does
   * not want it any more does not count it, and calls `counted`. Answers `alone` in good time where the hub does not.
   */
  claim(claim: Claim): Promise<Claimed>;
  /**
   * Own counts changed otherwise: a place was taken without a claim, one is free again, or one that was claimed is not
   * wanted. `worker` null: a key's place, of the key with the name `key`. Cheap; gathered.
   */
  counted(worker: string | null, key: string): void;

  /** Tells all others, in order. Gathered for some milliseconds; lost where the hub is away. */
  tell(news: News): void;
  onNews(listener: (news: News, from: string) => void): () => void;
  /** Asks all others; resolves with the answers that came within `timeoutMs`, by member. */
  ask(question: Question, timeoutMs: number): Promise<ReadonlyMap<string, unknown>>;
  /**
   * What others get for their questions: the first answer of all who are asked here that is not undefined; undefined:
   * nothing, which they need not wait for.
   */
  onQuestion(answer: (question: Question, from: string) => unknown): () => void;

  lease(name: string): Lease;
  /** Leaves the others: they are told, and its counts are gone. */
  close(): Promise<void>;
}
