import type { CancelTimer, Clock } from "@farmgate/shared";
import type { FarmKeys } from "./farm-keys.ts";
import type { HubTimes } from "./hub-times.ts";
import type { KeptConnection } from "./kept-connection.ts";
import type { Leases } from "./leases.ts";
import { messageOf, type Told } from "./messages.ts";
import type { OwnShare } from "./own-share.ts";
import type { RunScript } from "./scripts.ts";
import { TooSlow, withLimit } from "./time-limit.ts";
import { meaningOf } from "./words.ts";

type Reply = [isThere: string, settlingMs: number, members: string[], fences: number[], anew: string[]];

export interface HeartbeatOptions {
  id: string;
  clock: Clock;
  times: HubTimes;
  keys: FarmKeys;
  kept: KeptConnection;
  run: RunScript;
  share: OwnShare;
  leases: Leases;
  /** Claims that are not answered. */
  unanswered: () => number;
  /** Each is told under the next number. */
  nextStep: () => number;
  events: {
    /** Those who live, this one among them, in no order. */
    alive(members: readonly string[]): void;
    /** These keys held what no gateway wrote there. */
    begunAnew(keys: readonly string[]): void;
    /** `trouble` or `isSettled` changed. */
    changed(): void;
    /** At each beat, whether it can be sent or not. */
    beat(): void;
  };
}

/**
 * Says each second that this member lives, keeps its record, and finds out what can be relied on:
 *  1. The connection is away, or an answer too late or an error: trouble, and nothing is claimed until a beat succeeds.
 *  2. The record is lost (Redis emptied, this program stopped for too long), or may be wrong after a broken connection:
 *     it is written as a whole, under a new generation, and all are told.
 *  3. All records were lost: nothing is claimed until all members have had the time to write theirs again.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #generation = 0;
  #writeAll = true;
  #isUnderWay = false;
  #isReadOnly = false;
  #isSettled = false;
  #trouble: string | null = "not connected yet";
  #stopTimer: CancelTimer = () => {};
  #isStopped = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  get generation(): number {
    return this.#generation;
  }

  get trouble(): string | null {
    return this.#trouble;
  }

  /** Steps can be made: there is a record. */
  get isUp(): boolean {
    return this.#trouble === null && !this.#writeAll;
  }

  /** Places can be claimed. */
  get isSettled(): boolean {
    return this.isUp && this.#isSettled;
  }

  /** The next beat comes now, and from then on each second. */
  soon(ms: number = 0): void {
    if (this.#isStopped) return;
    this.#stopTimer();
    this.#stopTimer = this.#options.clock.after(ms, () => {
      this.soon(this.#options.times.beat);
      this.#options.events.beat();
      this.#beat();
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  closed(): void {
    this.#writeAll = true;
    this.#troubled(this.#options.kept.meaning);
  }

  /** A command failed: by an error, or by no answer in time. */
  failed(error: unknown): void {
    if (!(error instanceof TooSlow)) this.#writeAll = true;
    this.#isReadOnly = /\bREADONLY\b/.test((error as Error).message);
    // Where the connection is gone its own error says more.
    this.#troubled(this.#options.kept.isReady ? meaningOf(error) : this.#options.kept.meaning);
    if (error instanceof TooSlow && !this.#isUnderWay) this.soon();
  }

  /** The record is not there any more. */
  lost(): void {
    if (this.#writeAll) return;
    this.#writeAll = true;
    this.soon();
  }

  /** The others' records are not all there yet. */
  unsettled(): void {
    if (!this.#isSettled) return;
    this.#isSettled = false;
    this.soon();
  }

  #beat(): void {
    const { kept, clock, times, leases, run } = this.#options;
    if (!kept.isReady || this.#isUnderWay) {
      if (!kept.isReady) this.#troubled(kept.meaning);
      return kept.look();
    }
    // A replica that has been told to be one stays so: the address may lead to another server by now.
    if (this.#isReadOnly) {
      this.#isReadOnly = false;
      return kept.again();
    }
    this.#isUnderWay = true;
    const sentAt = clock.now();
    const names = leases.names();
    const isAnew = this.#writeAll;
    const [keys, args] = this.#compose(names, isAnew);
    const generation = this.#generation;
    const reply = run("beat", keys, args).then(
      (value) => {
        this.#isUnderWay = false;
        kept.answered();
        // A lease that was given up with all others must not come back.
        if (this.#isStopped) return;
        if (generation === this.#generation) this.#answered(value as Reply, isAnew, names, sentAt + times.window);
      },
      (error: unknown) => {
        this.#isUnderWay = false;
        throw error;
      },
    );
    withLimit(clock, times.command, reply).catch((error: unknown) => this.failed(error));
  }

  #compose(leases: readonly string[], isAnew: boolean): [keys: string[], args: (string | number)[]] {
    const { id, keys, times, share, unanswered, nextStep } = this.#options;
    if (isAnew) this.#generation += 1;
    const isWhole = isAnew || unanswered() === 0;
    let told: Told = {};
    let fields: (string | number)[] = [];
    if (isWhole) {
      const changed = share.step()?.told;
      const whole = share.whole();
      const counts = isAnew ? whole.told : (changed ?? new Map<string, number>());
      const step = nextStep();
      if (isAnew || counts.size > 0) told = { counts: { step, fields: [...counts], isAll: isAnew } };
      fields = ["s", step, ...whole.fields];
    }
    const message = told.counts === undefined ? "" : messageOf(id, told);
    return [
      [keys.members, keys.recordOf(id), keys.epoch, ...leases.flatMap((name) => keys.lease(name))],
      [id, this.#generation, times.window, times.settle, isWhole ? "1" : "0", keys.news, message, ...fields],
    ];
  }

  #answered(
    [isThere, settlingMs, members, fences, anew]: Reply,
    wasAnew: boolean,
    names: string[],
    until: number,
  ): void {
    if (isThere !== "1") return this.lost();
    const { leases, events } = this.#options;
    const was = this.isSettled;
    if (wasAnew) this.#writeAll = false;
    this.#isReadOnly = false;
    this.#trouble = null;
    this.#isSettled = settlingMs === 0;
    if (!this.#isSettled) this.soon(Math.min(settlingMs + 1, this.#options.times.beat));
    leases.renewed(names, fences, until);
    events.alive(members);
    if (anew.length > 0) events.begunAnew(anew);
    if (!was) events.changed();
  }

  #troubled(trouble: string): void {
    const isNew = this.#trouble !== trouble;
    this.#trouble = trouble;
    this.#isSettled = false;
    if (isNew) this.#options.events.changed();
  }
}
