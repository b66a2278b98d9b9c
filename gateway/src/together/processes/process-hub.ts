import type { CancelTimer, Clock } from "@farmgate/shared";
import type { Claim, Claimed, Hub, Lease, OwnCounts } from "../hub.ts";
import type { News, Question } from "../news.ts";
import { OpenQuestions } from "../open-questions.ts";
import { Tally } from "../room/tally.ts";
import { HeldLease } from "./held-lease.ts";
import type { FromRoom, Port, ToRoom } from "./messages.ts";
import { OpenClaims } from "./open-claims.ts";
import { Outbox } from "./outbox.ts";
import { OwnReport } from "./own-report.ts";
import { readCounts, sentCounts } from "./sent-counts.ts";

/** Changed counts, and news, are told at the latest after so many milliseconds; a claim takes them along. */
const GATHER_MS = 5;
/** A claim that has no answer for so long is decided alone, in milliseconds: the room's process hangs, or cannot keep up. */
const CLAIM_MS = 1_000;
/** What the others had is believed for so long after they could be heard last, in milliseconds. */
const BELIEVED_MS = 10_000;

export interface ProcessHubOptions {
  id: string;
  clock: Clock;
  port: Port<FromRoom, ToRoom>;
}

/**
 * A member's end of a room that another process keeps. Each claim is one message and its answer, and nothing is claimed
 * twice: the room counts what it gave until counts come that have it.
 */
export class ProcessHub implements Hub {
  readonly isShared = true;
  readonly claimsAll = true;
  readonly id: string;
  /** What they have under way, as it was heard last. */
  readonly others = new Tally();
  readonly #clock: Clock;
  readonly #port: Port<FromRoom, ToRoom>;
  readonly #outbox: Outbox<ToRoom>;
  readonly #questions: OpenQuestions;
  readonly #claims: OpenClaims;
  readonly #leases = new Map<string, HeldLease>();
  readonly #onChange = new Set<() => void>();
  readonly #onNews = new Set<(news: News, from: string) => void>();
  readonly #onQuestion = new Set<(question: Question, from: string) => unknown>();
  #members: readonly string[];
  #report: OwnReport | null = null;
  #joined: () => void = () => {};
  #answered = 0;
  #tellingCounts: CancelTimer | null = null;
  #news: ToRoom[] = [];
  #tellingNews: CancelTimer | null = null;
  #forgetting: CancelTimer = () => {};

  constructor({ id, clock, port }: ProcessHubOptions) {
    this.id = id;
    this.#clock = clock;
    this.#port = port;
    this.#members = [id];
    this.#questions = new OpenQuestions(clock);
    this.#claims = new OpenClaims(clock, CLAIM_MS);
    this.#outbox = new Outbox((messages) => this.#send(messages));
    port.listen({
      messages: (messages) => this.#heard(messages),
      opened: () => this.#join(),
      closed: () => this.#lost(),
    });
  }

  get trouble(): string | null {
    return this.#port.isOpen ? null : "the process in which this one meets the others has gone, or does not answer";
  }

  members(): readonly string[] {
    return this.#members;
  }

  start(own: OwnCounts): Promise<void> {
    this.#report = new OwnReport(own);
    if (!this.#port.isOpen) return Promise.resolve();
    return new Promise((resolve) => {
      this.#joined = resolve;
      this.#join();
    });
  }

  onChange(listener: () => void): () => void {
    return listed(this.#onChange, listener);
  }

  claim(claim: Claim): Promise<Claimed> {
    if (!this.#isIn) return Promise.resolve({ kind: "alone" });
    const { number, answer } = this.#claims.begin();
    this.#outbox.post({ kind: "claim", number, claim });
    return answer;
  }

  counted(worker: string | null): void {
    if (worker !== null) this.#report?.changed(worker);
    this.#tellCounts();
  }

  tell(news: News): void {
    if (!this.#isIn) return;
    this.#news.push({ kind: "news", news });
    this.#tellingNews ??= this.#clock.after(GATHER_MS, () => this.#sendNews());
  }

  onNews(listener: (news: News, from: string) => void): () => void {
    return listed(this.#onNews, listener);
  }

  ask(question: Question, timeoutMs: number): Promise<ReadonlyMap<string, unknown>> {
    if (!this.#isIn) return Promise.resolve(new Map());
    const { number, answers } = this.#questions.begin(null, timeoutMs);
    this.#outbox.post({ kind: "ask", number, question });
    return answers;
  }

  onQuestion(answer: (question: Question, from: string) => unknown): () => void {
    return listed(this.#onQuestion, answer);
  }

  lease(name: string): Lease {
    const lease = new HeldLease(() => {
      this.#leases.delete(name);
      if (this.#isIn) this.#outbox.post({ kind: "give-up-lease", name });
    });
    this.#leases.set(name, lease);
    if (this.#isIn) this.#outbox.post({ kind: "ask-lease", name });
    return lease;
  }

  close(): Promise<void> {
    if (this.#isIn) {
      this.#sendNews();
      this.#outbox.post({ kind: "leave" });
    }
    this.#outbox.flush();
    this.#report = null;
    this.#lost();
    return Promise.resolve();
  }

  get #isIn(): boolean {
    return this.#report !== null && this.#port.isOpen;
  }

  #join(): void {
    if (this.#report === null) return;
    this.#forgetting();
    this.#port.send([
      { kind: "join", ...sentCounts(this.#report.whole()) },
      ...Array.from(this.#leases.keys(), (name): ToRoom => ({ kind: "ask-lease", name })),
    ]);
  }

  #lost(): void {
    this.#joined();
    this.#outbox.clear();
    this.#claims.endAll();
    this.#questions.endAll();
    for (const lease of this.#leases.values()) lease.set(null);
    this.#forgetting();
    // Who has left asks nobody any more.
    if (this.#report === null) return;
    this.#forgetting = this.#clock.after(BELIEVED_MS, () => {
      this.others.clear();
      this.#changed();
    });
    this.#changed();
  }

  #heard(messages: readonly FromRoom[]): void {
    let changed = false;
    for (const message of messages) changed = this.#take(message) || changed;
    if (changed) this.#changed();
  }

  /** true: it changed what `onChange` is for. */
  #take(message: FromRoom): boolean {
    switch (message.kind) {
      case "claimed":
        this.#answered = message.number;
        this.#claims.answered(message.number, message.claimed);
        if (message.claimed.kind === "taken" && message.claimed.worker !== null) {
          this.#report?.changed(message.claimed.worker);
        }
        this.#tellCounts();
        return false;
      case "others":
        // What has ended while nobody was heard is not among it.
        if (message.isAll === true) this.others.clear();
        this.others.set(readCounts(message));
        return true;
      case "members":
        this.#members = message.members;
        this.#joined();
        return true;
      case "news":
        for (const listener of this.#onNews) listener(message.news, message.from);
        return false;
      case "question":
        void this.#answer(message);
        return false;
      case "answer":
        this.#questions.answered(message.number, message.from, message.value);
        return false;
      case "answered":
        this.#questions.end(message.number);
        return false;
      case "leases": {
        const held = new Map(message.held);
        for (const [name, lease] of this.#leases) lease.set(held.get(name) ?? null);
        return false;
      }
    }
  }

  async #answer({ question, from, number }: Extract<FromRoom, { kind: "question" }>): Promise<void> {
    let value: unknown;
    try {
      for (const answer of this.#onQuestion) value ??= await answer(question, from);
    } catch {
      // As if it had nothing to say: who asks does without, and neither of them ends by it.
    }
    this.#outbox.post({ kind: "answer", to: from, number, value });
  }

  #tellCounts(): void {
    if (!this.#isIn) return;
    this.#tellingCounts ??= this.#clock.after(GATHER_MS, () => {
      this.#tellingCounts = null;
      this.#send([]);
    });
  }

  /** Nobody waits for them, and each sending has its price. */
  #sendNews(): void {
    this.#tellingNews?.();
    this.#tellingNews = null;
    const news = this.#news;
    this.#news = [];
    if (news.length > 0) this.#port.send(news);
  }

  /** What was taken is counted by now: the turn in which a claim was answered is over. */
  #send(messages: readonly ToRoom[]): void {
    if (this.#report === null) return;
    const isClaim = messages.some(({ kind }) => kind === "claim");
    const isDue = this.#tellingCounts === null ? messages.length === 0 : isClaim;
    if (!isDue) return this.#port.send(messages);
    this.#tellingCounts?.();
    this.#tellingCounts = null;
    const counts = sentCounts(this.#report.take());
    this.#port.send([{ kind: "counts", answered: this.#answered, ...counts }, ...messages]);
  }

  #changed(): void {
    for (const listener of this.#onChange) listener();
  }
}

function listed<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
