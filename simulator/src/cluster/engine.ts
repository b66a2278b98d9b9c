import { FinishHeap } from "./finish-heap.ts";
import type { MemoryPool } from "./memory-pool.ts";
import type { ModelProfile, Role } from "./types.ts";

/** What an engine tells its instance. */
export interface EngineOwner {
  readonly id: number;
  /** Requests that it works at, and since when there are none. */
  running: number;
  idleSince: number | null;
}

/**
 * One replica at work: a prompt at a time, and a batch that makes a token of each request in every step. Between two
 * changes of its batch its steps flow by a formula, so that nothing happens per token.
 */
export class Engine {
  readonly owner: EngineOwner;
  readonly app: number;
  readonly role: Role;
  readonly model: ModelProfile;
  readonly devices: readonly number[];
  readonly pools: readonly MemoryPool[];
  /** Others that have a device with it. */
  neighbours: Engine[] = [];
  /** The request whose prompt it reads; -1: none. What is left of it, in milliseconds at pace 1. */
  prefilling = -1;
  prefillLeft = 0;
  prefillPace = 1;
  readonly batch = new FinishHeap();
  /** Steps since its start; how long one took when it was settled, and how much longer than the last each is. */
  steps = 0;
  stepMs = 1;
  growthMs = 0;
  /** Tokens of the batch so far. */
  context = 0;
  /** Requests whose state is on its way here, and those whose state waits here for a decode instance. */
  incoming = 0;
  held = 0;
  /** 0 until it can serve, less than 1 while it serves from a part of its layers. */
  pace = 0;
  /** Up to when all of this holds. */
  settledAt = 0;
  /** Events of an earlier turn are void. */
  prefillTurn = 0;
  decodeTurn = 0;
  /** How its devices have it counted. */
  countedPrefill = false;
  countedDecode = false;
  /** Shares of its devices' time now in its steps, and measured over a while with its prompts. */
  stepCompute = 0;
  stepBandwidth = 0;
  compute = 0;
  bandwidth = 0;
  /** Pages of state that it has on each of its devices. */
  statePages = 0;

  constructor(
    owner: EngineOwner,
    app: number,
    role: Role,
    model: ModelProfile,
    devices: readonly number[],
    pools: readonly MemoryPool[],
  ) {
    this.owner = owner;
    this.app = app;
    this.role = role;
    this.model = model;
    this.devices = devices;
    this.pools = pools;
  }

  /** Pages that are free on each of its devices; may be below 0. */
  get roomPages(): number {
    let room = Number.POSITIVE_INFINITY;
    for (const pool of this.pools) room = Math.min(room, pool.freePages);
    return room;
  }

  /** Requests came to it, or left. */
  count(by: number, now: number): void {
    const { owner } = this;
    owner.running += by;
    if (owner.running > 0) owner.idleSince = null;
    else owner.idleSince ??= now;
  }

  /** Returns the milliseconds that its slowest device takes. */
  takeState(pages: number, now: number): number {
    let wait = 0;
    for (const pool of this.pools) wait = Math.max(wait, pool.takeState(pages, now));
    this.statePages += pages;
    return wait;
  }

  freeState(pages: number, now: number): void {
    for (const pool of this.pools) pool.freeState(pages, now);
    this.statePages -= pages;
  }
}
