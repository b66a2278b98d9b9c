import type { IncomingMessage, ServerResponse } from "node:http";
import { type Api, type ApiFamily, type BodyBytes, FarmError, type ScannedBody } from "@farmgate/shared";
import {
  AnswerRelay,
  type BodyShare,
  type Caller,
  type CallerSocket,
  type Relay,
  type RequestPriority,
} from "@farmgate/wire";
import type { PrefixHashes } from "../routing/prefix-hashes.ts";
import type { Warmth, Weighed } from "../routing/types.ts";
import type { LiveRequest, RequestPhase } from "./live-requests.ts";
import type { RequestSpans } from "./request-spans.ts";
import { UsageTap } from "./usage-tap.ts";

export interface CallStart {
  id: string;
  api: Api;
  family: ApiFamily;
  request: IncomingMessage;
  response: ServerResponse;
  /** The connection, where it is to become a WebSocket; absent: a plain request. */
  socket?: CallerSocket;
  /** CORS headers of the answer, flat. */
  cors: readonly string[];
  /** Its room for the body. */
  share: BodyShare;
  /** Milliseconds on the clock of `now`. */
  arrivedAt: number;
  /** Milliseconds since the Unix epoch. */
  since: number;
}

/** What a request brought: known once its body was read. */
export interface Received {
  /** Emptied once an answer has begun: nothing is sent twice after that, and prompts are large. */
  body: BodyBytes;
  scan: ScannedBody;
  /** As the caller spells it; null: it named none, and leaves it to the farm. */
  model: string | null;
  priority: RequestPriority | null;
  /** Time for the first byte, on the clock of `now`; null: the caller set none. */
  deadlineAt: number | null;
  hops: number;
}

/** A try at a worker, seen by those who watch over it. Times in milliseconds on the clock of `now`. */
export interface TryUnderWay {
  /** When the worker last sent something; the start of the try before that. */
  readonly lastByteAt: number;
  /** Of the answer's body; null: no byte of it has come. */
  readonly firstDataAt: number | null;
  readonly lastDataAt: number | null;
  /** From when the time for the first byte counts: its sending, or the last word that it waits for its turn. */
  readonly firstByteFrom: number;
  /** Ends it, as a fault of the worker, where nothing of an answer has come. `why`: for people. */
  giveUp(why: string): void;
}

/** One inference request from its arrival to the end of its answer. */
export class Call implements LiveRequest {
  readonly id: string;
  readonly api: Api;
  readonly family: ApiFamily;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** null: a plain request. */
  readonly socket: CallerSocket | null;
  readonly #cors: readonly string[];
  #ownHeaders: readonly string[];
  readonly share: BodyShare;
  readonly arrivedAt: number;
  readonly since: number;
  readonly tap = new UsageTap();
  /** null: traces are off. */
  spans: RequestSpans | null = null;
  caller: Caller = { name: "", key: null };
  /** The catalogue name that is tried; empty until the body was read. */
  model = "";
  /** What is remembered of the conversation when an answer comes. */
  prefix: PrefixHashes | null = null;
  worker: string | null = null;
  /** The worker at which a place is counted for it at this moment. */
  place: string | null = null;
  /** Gives back its place among those of its key, which is limited; null: it has none yet, or needs none. */
  leaveKey: (() => void) | null = null;
  /** As the worker spells it. */
  upstreamModel = "";
  warmth: Warmth | null = null;
  /** What was weighed when it was sent to that worker, or began to wait for it; null: nothing. */
  weighed: Weighed | null = null;
  /** That worker had a free slot, as far as is known; told only where times are learned. */
  foundSlot = false;
  phase: RequestPhase = "receiving";
  /** Workers asked so far. */
  attempts = 0;
  /** Spent waiting for a worker below its cap, in milliseconds. */
  waitedMs = 0;
  /** Its own time for the first byte; null: it set none, or its body was not read yet. */
  deadlineAt: number | null = null;
  /** The body was complete. */
  receivedAt: number | null = null;
  firstSentAt: number | null = null;
  /** When the worker of the last try was asked. */
  askedAt: number | null = null;
  firstByteAt: number | null = null;
  /** Comments may be sent while no byte of the answer has been passed on. */
  takesComments = false;
  /** When the last comment was sent. */
  commentedAt: number | null = null;
  /** The id of the joint request that it was part of. */
  joinedAs: string | null = null;
  /** Its stream was begun with a comment: the head went out before any worker had answered. */
  opened = false;
  /** The try that answers. */
  attempt: TryUnderWay | null = null;
  /** What was sent with the last try; null: nothing was. */
  sent: { api: Api; streamed: boolean; bytes: number } | null = null;
  /** Why nobody wants the answer any more. */
  #gone: FarmError | null = null;
  #stop: ((why: FarmError) => void) | null = null;

  constructor(start: CallStart) {
    this.id = start.id;
    this.api = start.api;
    this.family = start.family;
    this.request = start.request;
    this.response = start.response;
    this.socket = start.socket ?? null;
    this.#cors = start.cors;
    this.#ownHeaders = start.cors;
    this.share = start.share;
    this.arrivedAt = start.arrivedAt;
    this.since = start.since;
  }

  get lastByteAt(): number | null {
    return this.attempt?.lastByteAt ?? null;
  }

  /** Its headers as it sent them, flat. */
  get rawHeaders(): readonly string[] {
    return this.request.rawHeaders;
  }

  /** What its answer tells besides who gave it, flat: CORS, and the limit of its key. */
  get ownHeaders(): readonly string[] {
    return this.#ownHeaders;
  }

  /** What its key's limit leaves, instead of what was told before; the head of the answer is still to come. */
  tellLimit(headers: readonly string[]): void {
    this.#ownHeaders = headers.length === 0 ? this.#cors : [...this.#cors, ...headers];
  }

  /** A good answer is read to its end before anything of it is passed on. */
  get isGathered(): boolean {
    return false;
  }

  /** Where the answer of one try goes; `resume` is called when more of it may come. */
  relay(resume: () => void): Relay {
    return new AnswerRelay(this.response, this.tap, resume);
  }

  get callerName(): string {
    return this.caller.name;
  }

  /** The caller has closed its connection, or its sending half; `why`: it was left for gone. */
  leave(why: FarmError = new FarmError("client_closed", "The caller has left.")): void {
    this.#go(why);
  }

  cancel(reason: FarmError): void {
    // An answer that its caller has left may still be read on; now it must not.
    if (this.#gone !== null) this.#stop?.(reason);
    else this.#go(reason);
  }

  /** Why the request is not wanted any more; null while it is. */
  get goneError(): FarmError | null {
    return this.#gone;
  }

  /** Says how to end what is under way should the request not be wanted any more; null: nothing is. */
  onGone(stop: ((why: FarmError) => void) | null): void {
    this.#stop = stop;
    if (this.#gone !== null) stop?.(this.#gone);
  }

  #go(why: FarmError): void {
    if (this.#gone !== null) return;
    this.#gone = why;
    this.#stop?.(why);
  }
}
