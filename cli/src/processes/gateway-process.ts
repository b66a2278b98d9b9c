import cluster, { type Worker } from "node:cluster";
import { formatDuration } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { Io } from "../io.ts";
import { afterExit } from "../up/restart-policy.ts";
import type { Doors } from "./doors.ts";
import type { FromProcess, ToProcess } from "./messages.ts";

export interface ProcessEvents {
  /** It runs, for the first time or again, and waits for its order. */
  up(worker: Worker): void;
  listening(): void;
  /** It could not start, and ends. */
  failed(error: Error): void;
  /** It has ended by itself too often. */
  givenUp(): void;
}

/** One process of a gateway: started, started again when it ends by itself, ended when told. */
export class GatewayProcess {
  readonly number: number;
  readonly #io: Io;
  readonly #log: Log;
  readonly #doors: Doors;
  readonly #events: ProcessEvents;
  #worker: Worker | null = null;
  /** It has its order; before that it has nothing to close, and would not hear of it. */
  #isUp = false;
  #restarts = 0;
  #ending = false;
  #cancelRestart: () => void = () => {};
  #ended: () => void = () => {};

  constructor(number: number, io: Io, log: Log, doors: Doors, events: ProcessEvents) {
    this.number = number;
    this.#io = io;
    this.#log = log;
    this.#doors = doors;
    this.#events = events;
  }

  start(): void {
    const startedAt = this.#io.clock.now();
    const worker = cluster.fork();
    this.#worker = worker;
    this.#isUp = false;
    this.#doors.watch(worker);
    worker.on("message", (message: FromProcess) => {
      if (message.kind === "up") {
        this.#isUp = true;
        this.#events.up(worker);
      }
      if (message.kind === "listening") this.#events.listening();
      // What it was handed before has gone through the same channel.
      if (message.kind === "leaves") this.tell({ kind: "left" });
      if (message.kind === "alive?") this.tell({ kind: "alive", number: message.number });
      if (message.kind === "failed") {
        this.#events.failed(Object.assign(new Error(message.message), { code: message.code }));
      }
    });
    // What it is told while it goes is lost, and it was to be told no more.
    worker.on("error", (error) => this.#log.debug({ err: error, process: this.number }, "a process was not reached"));
    worker.once("exit", (code: number | null, signal: string | null) => {
      this.#worker = null;
      this.#ended();
      if (!this.#ending) this.#again(code, signal ?? `exit code ${code}`, this.#io.clock.now() - startedAt);
    });
  }

  tell(message: ToProcess): void {
    if (this.#worker?.isConnected()) this.#worker.send(message);
  }

  /** Lets it drain; resolves when it has ended. */
  end(): Promise<void> {
    this.#ending = true;
    this.#cancelRestart();
    if (this.#worker === null) return Promise.resolve();
    const ended = new Promise<void>((resolve) => (this.#ended = resolve));
    if (this.#isUp) this.tell({ kind: "close" });
    else this.kill();
    return ended;
  }

  kill(): void {
    this.#ending = true;
    this.#cancelRestart();
    this.#worker?.process.kill("SIGKILL");
  }

  #again(code: number | null, how: string, ranMs: number): void {
    const decision = afterExit(code, this.#restarts, ranMs);
    const what = `process ${this.number} of the gateway ended (${how})`;
    if (!decision.restart) {
      this.#log.error(`${what} and is not started again: ${decision.reason}`);
      this.#events.givenUp();
      return;
    }
    this.#restarts = decision.restarts;
    this.#log.warn(`${what}; it is started again in ${formatDuration(decision.delayMs)}`);
    this.#cancelRestart = this.#io.clock.after(decision.delayMs, () => this.start());
  }
}
