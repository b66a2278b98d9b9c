import type { CancelTimer, Clock, Random } from "@farmgate/shared";
import { type Log, type Upstreams, wholeAnswer } from "@farmgate/wire";
import { nextPauseMs, type Outcome, outcomeOf } from "./outcome.ts";

/** A gateway that an agent registers with. */
export interface GatewayTarget {
  url: string;
  ca: string | null;
  key: string | null;
}

export interface RegistrationDeps {
  clock: Clock;
  random: Random;
  log: Log;
  upstreams: Upstreams;
  /** What is told of the agent. */
  told: () => { name: string; instance: string };
}

/** For one try: the gateway looks whether it reaches the agent before it answers. */
const LIMITS = { ms: 10_000, bytes: 64 * 1_024 };
/** For taking leave, in milliseconds; else the lease ends it. */
const LEAVE_MS = 2_000;

/** Keeps an agent registered with one gateway, from `start` until `leave`. */
export class Registration {
  readonly #target: GatewayTarget;
  readonly #deps: RegistrationDeps;
  readonly #stop = new AbortController();
  #cancelTimer: CancelTimer = () => {};
  #running: Promise<void> = Promise.resolve();
  #fruitless = 0;
  #isDue = false;
  /** What was last told in the log: a kind of outcome, of a refusal its reason as well. */
  #logged: string | null = null;
  #isIn = false;
  #wasIn = false;

  constructor(target: GatewayTarget, deps: RegistrationDeps) {
    this.#target = target;
    this.#deps = deps;
  }

  get isIn(): boolean {
    return this.#isIn;
  }

  /** Registers now, whenever the next time would be. */
  start(): void {
    this.#cancelTimer();
    if (this.#stop.signal.aborted || this.#isDue) return;
    this.#isDue = true;
    this.#running = this.#running.then(() => this.#once());
  }

  /** Tells the gateway that nothing is to come any more, and waits for its word; not for long, and never rejects. */
  async leave(): Promise<void> {
    this.#cancelTimer();
    this.#stop.abort();
    await this.#running;
    const { name, instance } = this.#deps.told();
    const path = `/farm/register/${encodeURIComponent(name)}?instance=${instance}`;
    const left = await this.#ask("DELETE", path, null, LEAVE_MS, new AbortController().signal);
    if (this.#isIn && left.kind === "away") {
      this.#deps.log.warn(
        { gateway: this.#target.url, why: left.why },
        "the gateway was not told that this agent leaves",
      );
    }
    this.#isIn = false;
  }

  async #once(): Promise<void> {
    this.#isDue = false;
    const { signal } = this.#stop;
    if (signal.aborted) return;
    const { clock, random, told } = this.#deps;
    const outcome = await this.#ask("POST", "/farm/register", JSON.stringify(told()), LIMITS.ms, signal);
    if (signal.aborted) return;
    this.#isIn = outcome.kind === "in";
    this.#fruitless = outcome.kind === "away" ? this.#fruitless + 1 : 0;
    this.#tell(outcome);
    if (this.#isDue) return;
    this.#cancelTimer = clock.after(nextPauseMs(outcome, this.#fruitless, random), () => this.start());
  }

  async #ask(method: string, path: string, body: string | null, ms: number, signal: AbortSignal): Promise<Outcome> {
    const { upstreams, clock } = this.#deps;
    const { url, ca, key } = this.#target;
    const { pool, origin, prefix } = upstreams.to({ url, ca });
    const headers = ["accept", "application/json"];
    if (body !== null) headers.push("content-type", "application/json");
    if (key !== null) headers.push("authorization", `Bearer ${key}`);
    const bytes = body === null ? null : Buffer.from(body);
    const request = { origin, method, path: prefix + path, headers, body: bytes };
    const answer = await wholeAnswer(pool, clock, request, { ...LIMITS, ms }, signal);
    if (answer.head !== null && answer.cut === null) return outcomeOf(answer.head.status, answer.body.toString("utf8"));
    const { cut } = answer;
    return { kind: "away", why: cut === null || typeof cut === "string" ? "it does not answer" : cut.message };
  }

  /** Once for each time that something is another way. */
  #tell(outcome: Outcome): void {
    const { log } = this.#deps;
    const { url } = this.#target;
    const now = outcome.kind === "refused" ? outcome.why : outcome.kind;
    if (now === this.#logged) return;
    this.#logged = now;
    if (outcome.kind === "in") {
      const isBack = this.#wasIn;
      this.#wasIn = true;
      log.info({ gateway: url }, `registered ${isBack ? "again " : ""}with the gateway at ${url}`);
    } else if (outcome.kind === "refused") {
      log.error(
        { gateway: url },
        `the gateway at ${url} does not take this agent in: ${outcome.why} (tried each minute)`,
      );
    } else {
      log.warn({ gateway: url, why: outcome.why }, `the gateway at ${url} is not reached: this goes on being tried`);
    }
  }
}
