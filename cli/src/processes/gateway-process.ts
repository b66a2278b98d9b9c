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

/** From its start to its exit. */
interface Run {
  readonly worker: Worker;
  readonly startedAt: number;
  /** It has its order; before that it has nothing to close, and would not hear of it. */
  isUp: boolean;
}

/**
 * One process of a gateway: started, started again when it ends by itself, ended when told. One that was told to leave
 * by somebody else has its place taken at once, and goes on beside who took it until what it has is served.
 */
export class GatewayProcess {
  readonly number: number;
  readonly #io: Io;
  readonly #log: Log;
  readonly #doors: Doors;
  readonly #events: ProcessEvents;
  /** Those that live: one at most that does not leave. */
  readonly #runs = new Set<Run>();
  /** The one that does not leave; null: it has ended, and the next waits for its start. */
  #current: Run | null = null;
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
    const worker = cluster.fork();
    const run: Run = { worker, startedAt: this.#io.clock.now(), isUp: false };
    this.#runs.add(run);
    this.#current = run;
    this.#doors.watch(worker);
    worker.on("message", (message: FromProcess) => this.#heard(run, message));
    // What it is told while it goes is lost, and it was to be told no more.
    worker.on("error", (error) => this.#log.debug({ err: error, process: this.number }, "a process was not reached"));
    worker.once("exit", (code: number | null, signal: string | null) => this.#exited(run, code, signal));
  }

  tell(message: ToProcess): void {
    for (const { worker } of this.#runs) tell(worker, message);
  }

  /** Lets it drain; resolves when it has ended. */
  end(): Promise<void> {
    this.#ending = true;
    this.#cancelRestart();
    if (this.#runs.size === 0) return Promise.resolve();
    const ended = new Promise<void>((resolve) => (this.#ended = resolve));
    for (const { worker, isUp } of this.#runs) {
      if (isUp) tell(worker, { kind: "close" });
      else worker.process.kill("SIGKILL");
    }
    return ended;
  }

  kill(): void {
    this.#ending = true;
    this.#cancelRestart();
    for (const { worker } of this.#runs) worker.process.kill("SIGKILL");
  }

  #heard(run: Run, message: FromProcess): void {
    const { worker } = run;
    if (message.kind === "up") {
      run.isUp = true;
      this.#events.up(worker);
    }
    if (message.kind === "listening") this.#events.listening();
    if (message.kind === "leaves") {
      // What it was handed before has gone through the same channel.
      tell(worker, { kind: "left" });
      this.#leaves(run, message.isBroken);
    }
    if (message.kind === "alive?") tell(worker, { kind: "alive", number: message.number });
    if (message.kind === "failed") {
      this.#events.failed(Object.assign(new Error(message.message), { code: message.code }));
    }
  }

  #leaves(run: Run, isBroken: boolean): void {
    if (this.#ending || this.#current !== run) return;
    this.#current = null;
    if (isBroken) return this.#again(run, 1, "an error");
    // It was fine.
    this.#restarts = 0;
    this.start();
  }

  #exited(run: Run, code: number | null, signal: string | null): void {
    this.#runs.delete(run);
    if (this.#runs.size === 0) this.#ended();
    if (this.#current !== run) return;
    this.#current = null;
    if (!this.#ending) this.#again(run, code, signal ?? `exit code ${code}`);
  }

  #again({ startedAt }: Run, code: number | null, how: string): void {
    const decision = afterExit(code, this.#restarts, this.#io.clock.now() - startedAt);
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

function tell(worker: Worker, message: ToProcess): void {
  if (worker.isConnected()) worker.send(message);
}
