import type { CancelTimer, Clock } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { Claim, Claimed, Hub, Lease, OwnCounts } from "../hub.ts";
import type { News, Question } from "../news.ts";
import { Claims } from "./claims.ts";
import { Ears } from "./ears.ts";
import { FarmKeys } from "./farm-keys.ts";
import { HeardMembers } from "./heard-members.ts";
import { Heartbeat } from "./heartbeat.ts";
import { HUB_TIMES, type HubTimes } from "./hub-times.ts";
import { KeptConnection } from "./kept-connection.ts";
import { Leases } from "./leases.ts";
import { messageOf, readAnswer, readTold } from "./messages.ts";
import { OwnShare } from "./own-share.ts";
import { placeOf, type RedisAddress } from "./redis-address.ts";
import { type RunScript, scriptsOf } from "./scripts.ts";
import { Steps } from "./steps.ts";
import { Talk } from "./talk.ts";
import { withLimit } from "./time-limit.ts";
import { TroubleLog } from "./trouble-log.ts";

/** Changes that others told within so many milliseconds are one. */
const GATHERED_MS = 5;

export interface RedisHubOptions {
  id: string;
  address: RedisAddress;
  /** Who may have signed its certificate, as PEM; null: whom this machine trusts. */
  ca: string | null;
  /** Gateways of one farm meet, those of another do not. */
  farm: string;
  clock: Clock;
  log: Log;
  times?: Partial<HubTimes>;
}

/** Gateways that meet by a Redis or Valkey server. What they share there, and what for, is told in docs/several-gateways.md. */
export class RedisHub implements Hub {
  readonly isShared = true;
  readonly claimsAll = false;
  readonly id: string;
  readonly others = new HeardMembers();
  readonly #options: RedisHubOptions;
  readonly #times: HubTimes;
  readonly #keys: FarmKeys;
  readonly #kept: KeptConnection;
  readonly #run: RunScript;
  readonly #ears: Ears;
  readonly #leases: Leases;
  readonly #talk: Talk;
  readonly #troubleLog: TroubleLog;
  readonly #onChange = new Set<() => void>();
  #running: { heart: Heartbeat; steps: Steps; claims: Claims } | null = null;
  #isStarted = false;
  #step = 0;
  #members: readonly string[];
  #trouble: string | null;
  #readAt = Number.NEGATIVE_INFINITY;
  readonly #toReadAgain = new Set<string>();
  #stopChange: CancelTimer | null = null;
  #stopForgetting: CancelTimer | null = null;
  #together: () => void = () => {};

  constructor(options: RedisHubOptions) {
    const { id, address, ca, farm, clock, log } = options;
    this.id = id;
    this.#options = options;
    this.#times = { ...HUB_TIMES, ...options.times };
    this.#keys = new FarmKeys(farm, address.db);
    const { command: connectMs, window: stuckMs } = this.#times;
    const name = `farmgate-${id}`;
    const connecting = { address, ca, connectMs, stuckMs, clock };
    this.#kept = new KeptConnection(
      { ...connecting, name },
      { ready: () => this.#ready(), closed: () => this.#closed() },
    );
    this.#run = scriptsOf(this.#kept.connection);
    this.#ears = new Ears(
      { ...connecting, name: `${name}-hears`, id, keys: this.#keys },
      {
        message: (channel, text) => this.#heard(channel, text),
        hears: () => this.#hears(),
        deaf: () => this.#look(),
      },
    );
    this.#leases = new Leases(clock, {
      giveUp: (lease) => this.#release(lease),
      isHeld: (lease, fence) => this.#isHeld(lease, fence),
    });
    this.#talk = new Talk({ id, clock, log, keys: this.#keys, publish: (to, message) => this.#publish(to, message) });
    this.#troubleLog = new TroubleLog(clock, log);
    this.#members = [id];
    this.#trouble = worded("not connected yet");
  }

  get trouble(): string | null {
    return this.#trouble;
  }

  members(): readonly string[] {
    return this.#members;
  }

  async start(own: OwnCounts): Promise<void> {
    const { id, clock, log } = this.#options;
    const share = new OwnShare(own);
    const nextStep = () => (this.#step += 1);
    const common = { id, clock, log, times: this.#times, keys: this.#keys, run: this.#run, share, nextStep };
    const heart = new Heartbeat({
      ...common,
      kept: this.#kept,
      leases: this.#leases,
      unanswered: () => claims.unanswered,
      events: {
        alive: (members) => this.#alive(members),
        begunAnew: (keys) => this.#troubleLog.begunAnew(keys),
        changed: () => this.#look(),
        beat: () => this.#ears.look(),
      },
    });
    const steps = new Steps({ ...common, heart });
    const claims = new Claims({ ...common, heart, taken: () => steps.soon() });
    this.#running = { heart, steps, claims };
    const together = new Promise<void>((resolve) => (this.#together = resolve));
    this.#kept.open();
    this.#ears.open();
    heart.soon(this.#times.beat);
    await withLimit(clock, this.#times.start, together).catch(() => {});
    this.#isStarted = this.#running !== null;
    this.#look();
  }

  onChange(listener: () => void): () => void {
    this.#onChange.add(listener);
    return () => this.#onChange.delete(listener);
  }

  claim(claim: Claim): Promise<Claimed> {
    return this.#running?.claims.claim(claim) ?? Promise.resolve({ kind: "alone" });
  }

  counted(): void {
    this.#running?.steps.soon();
  }

  tell(news: News): void {
    this.#running?.steps.tell(news);
  }

  onNews(listener: (news: News, from: string) => void): () => void {
    return this.#talk.onNews(listener);
  }

  ask(question: Question, timeoutMs: number): Promise<ReadonlyMap<string, unknown>> {
    const others = this.#members.filter((member) => member !== this.id);
    if (this.#trouble !== null || others.length === 0) return Promise.resolve(new Map());
    return this.#talk.ask(others, question, timeoutMs);
  }

  onQuestion(answer: (question: Question, from: string) => unknown): () => void {
    return this.#talk.onQuestion(answer);
  }

  lease(name: string): Lease {
    const lease = this.#leases.lease(name);
    if (this.#running?.heart.isUp) this.#running.heart.soon();
    return lease;
  }

  async close(): Promise<void> {
    const { clock } = this.#options;
    const running = this.#running;
    this.#running = null;
    this.#stopChange?.();
    this.#stopForgetting?.();
    running?.heart.stop();
    running?.steps.stop();
    this.#talk.end();
    const holders = this.#leases.names().map((name) => this.#keys.lease(name)[0]);
    this.#leases.lost();
    if (this.#kept.isReady) {
      const keys = [this.#keys.members, this.#keys.recordOf(this.id), ...holders];
      const left = this.#run("leave", keys, [this.id, this.#keys.news, messageOf(this.id, { bye: true })]);
      // Who cannot say so is gone all the same, after `window`.
      await withLimit(clock, this.#times.command, left).catch(() => {});
    }
    this.#kept.end();
    this.#ears.end();
  }

  #ready(): void {
    this.#running?.heart.soon();
  }

  #closed(): void {
    this.#running?.heart.closed();
  }

  #publish(channel: string, message: string): void {
    const heart = this.#running?.heart;
    if (!heart?.isUp) return;
    const sent = this.#kept.connection.publish(channel, message);
    withLimit(this.#options.clock, this.#times.command, sent).catch((error: unknown) => heart.failed(error));
  }

  async #release(lease: string): Promise<void> {
    const { clock } = this.#options;
    if (!this.#kept.isReady) return;
    const args = [this.id, this.#keys.news, messageOf(this.id, { freed: true })];
    const released = this.#run("release", [this.#keys.lease(lease)[0]], args);
    // It is free by itself after `window`.
    await withLimit(clock, this.#times.command, released).catch(() => {});
  }

  async #isHeld(lease: string, fence: number): Promise<boolean> {
    const { clock } = this.#options;
    if (!this.#kept.isReady) return false;
    const asked = this.#kept.connection.hmget(this.#keys.lease(lease)[0], "holder", "fence");
    // The heartbeat tells what is wrong.
    const [holder, held] = await withLimit(clock, this.#times.command, asked).catch(() => []);
    return holder === this.id && Number(held) === fence;
  }

  #heard(channel: string, text: string): void {
    if (channel !== this.#keys.news) {
      const answered = readAnswer(text, this.id);
      if (answered !== null) this.#talk.answered(answered.answer, answered.from);
      return;
    }
    const message = readTold(text, this.id);
    if (message === null) return;
    const { from, told } = message;
    const { counts } = told;
    if (counts !== undefined) {
      this.others.told(from, counts.step, new Map(counts.fields), counts.isAll ?? false);
      this.#changed();
    }
    if (told.bye) this.#alive(this.#members.filter((member) => member !== from));
    // A lease may be free.
    if (told.bye || told.freed) this.#running?.heart.soon();
    this.#talk.heard(told, from);
  }

  #alive(members: readonly string[]): void {
    const sorted = [...new Set([...members, this.id])].sort();
    const isNew = sorted.join() !== this.#members.join();
    this.#members = sorted;
    this.others.keepOnly(sorted);
    this.#talk.keepOnly(sorted);
    const isKnown = sorted.every((member) => member === this.id || this.others.knows(member));
    if (!isKnown || this.#options.clock.now() - this.#readAt > this.#times.reread) this.#read();
    if (isNew) this.#changed();
  }

  /** What the others told may have been missed. */
  #hears(): void {
    this.others.doubt();
    this.#read();
    this.#look();
  }

  /** Reads what the others have under way. */
  #read(): void {
    if (!this.#running?.heart.isUp) return;
    this.#readAt = this.#options.clock.now();
    for (const member of this.#members) if (member !== this.id) this.#readRecord(member);
  }

  #readRecord(member: string): void {
    const asked = this.others.stepOf(member);
    this.#kept.connection.hgetall(this.#keys.recordOf(member)).then(
      (record) => {
        // It may have left meanwhile.
        if (!this.#members.includes(member)) return;
        if (this.others.read(member, record, asked)) this.#changed();
        // A record without a step is gone: the next heartbeat knows. The other one is soon written.
        else if ("s" in record) this.#readAgain(member);
      },
      // The heartbeat tells.
      () => {},
    );
  }

  #readAgain(member: string): void {
    if (this.#toReadAgain.has(member)) return;
    this.#toReadAgain.add(member);
    this.#options.clock.after(this.#times.gather, () => {
      this.#toReadAgain.delete(member);
      this.#readRecord(member);
    });
  }

  /** What is the trouble now? */
  #look(): void {
    if (this.#running === null) return;
    const { clock } = this.#options;
    const trouble = this.#running.heart.trouble ?? this.#ears.meaning;
    const before = this.#trouble;
    this.#trouble = trouble === null ? null : worded(trouble);
    if (this.#trouble !== before) this.#changed();
    if (this.#trouble === null) {
      this.#together();
      this.#troubleLog.ended();
      this.#stopForgetting?.();
      this.#stopForgetting = null;
    } else if (this.#isStarted) {
      // Where Redis is, /health does not tell: it needs no key.
      this.#troubleLog.began(`${this.#trouble} (${placeOf(this.#options.address)})`);
      this.#stopForgetting ??= clock.after(this.#times.believed, () => {
        this.others.keepOnly([]);
        this.#changed();
      });
    }
  }

  #changed(): void {
    // What comes while it leaves is nobody's news any more.
    if (this.#running === null) return;
    this.#stopChange ??= this.#options.clock.after(GATHERED_MS, () => {
      this.#stopChange = null;
      for (const listener of this.#onChange) listener();
    });
  }
}

function worded(trouble: string): string {
  return `Redis: ${trouble}`;
}
