import type { Worker } from "node:cluster";
import type { CancelTimer, Clock } from "@farmgate/shared";
import type { FromProcess, ToProcess } from "./messages.ts";

/** Between two questions, in milliseconds. */
const ASK_MS = 1_000;
/** So many of them in a row that nothing was heard after. By count: who was held up itself has asked one at most. */
const MOST_UNHEARD = 2;

interface AnsweringEvents {
  /** Nothing comes any more. */
  lost(): void;
  /** It answers again, and all that it had to say of the time before has been heard. */
  found(): void;
}

/** Whether the primary process answers. */
export class Answering {
  readonly #worker: Worker;
  readonly #clock: Clock;
  #asked = 0;
  #unheard = 0;
  /** The last question before it was lost; null: it is not. */
  #lostAt: number | null = null;
  #events: AnsweringEvents | null = null;
  #stopTimer: CancelTimer = () => {};

  constructor(worker: Worker, clock: Clock) {
    this.#worker = worker;
    this.#clock = clock;
  }

  get isSure(): boolean {
    return this.#lostAt === null;
  }

  /** Asks from now on. */
  watch(events: AnsweringEvents): void {
    this.#events = events;
    this.#ask();
  }

  stop(): void {
    this.#events = null;
    this.#stopTimer();
  }

  heard(message: ToProcess): void {
    this.#unheard = 0;
    if (this.#lostAt === null || message.kind !== "alive" || message.number <= this.#lostAt) return;
    this.#lostAt = null;
    this.#events?.found();
  }

  #ask(): void {
    if (this.#unheard === MOST_UNHEARD && this.#lostAt === null) {
      this.#lostAt = this.#asked;
      this.#events?.lost();
    }
    this.#asked += 1;
    this.#unheard += 1;
    const message: FromProcess = { kind: "alive?", number: this.#asked };
    if (this.#worker.isConnected()) this.#worker.send(message);
    this.#stopTimer = this.#clock.after(ASK_MS, () => this.#ask());
  }
}
