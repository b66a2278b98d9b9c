import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { formatDuration } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { Io } from "../io.ts";
import { type ProcessPlan, STOP_MARGIN_MS } from "./process-plan.ts";
import { afterExit } from "./restart-policy.ts";

/**
 * One program of the farm as a child process: started, started again when it ends by itself, stopped when told.
 * It stands in a process group of its own, so that Ctrl-C reaches this process alone and the order of stopping
 * holds; a channel tells it when this process has gone.
 */
export class SupervisedProcess {
  readonly plan: ProcessPlan;
  readonly #io: Io;
  readonly #log: Log;
  readonly #onGivenUp: () => void;
  /** How long it may take to end, margins left out; in milliseconds. */
  drainMs: number;
  #child: ChildProcess | null = null;
  #cancelRestart: () => void = () => undefined;
  #restarts = 0;
  #stopping = false;
  #lastRun = false;
  /** Why it is not tried any more; null while it runs or will be started again. */
  givenUp: string | null = null;

  constructor(plan: ProcessPlan, io: Io, log: Log, onGivenUp: () => void) {
    this.plan = plan;
    this.drainMs = plan.drainMs;
    this.#io = io;
    this.#log = log;
    this.#onGivenUp = onGivenUp;
  }

  start(): void {
    const [executable, ...before] = this.#io.self;
    const startedAt = this.#io.clock.now();
    const child = spawn(executable, [...before, ...this.plan.args], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      detached: true,
      env: { ...this.#io.env },
    });
    this.#child = child;
    let ended = false;
    const end = (code: number | null, how: string) => {
      if (ended) return;
      ended = true;
      this.#ended(code, how, this.#io.clock.now() - startedAt);
    };
    child.once("error", (error) => end(null, error.message));
    child.once("exit", (code, signal) => end(code, signal ?? `exit code ${code}`));
  }

  /** From now on it is not started again: the farm stops, and its turn will come. */
  letEnd(): void {
    this.#lastRun = true;
    this.#cancelRestart();
  }

  /** Asks it to drain and end, and resolves when it has; ends it hard when it takes longer than it may. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#cancelRestart();
    const child = this.#child;
    if (child === null) return;
    const exit = once(child, "exit");
    child.kill("SIGTERM");
    const cancel = this.#io.clock.after(this.drainMs + STOP_MARGIN_MS, () => {
      this.#log.error(`${this.plan.title} does not end; ended hard`);
      child.kill("SIGKILL");
    });
    await exit;
    cancel();
  }

  /** Ends it now. */
  kill(): void {
    this.#stopping = true;
    this.#cancelRestart();
    this.#child?.kill("SIGKILL");
  }

  #ended(code: number | null, how: string, ranMs: number): void {
    this.#child = null;
    if (this.#stopping) return;
    if (this.#lastRun) {
      this.#log.warn(`${this.plan.title} ended (${how}) while the farm stops`);
      return;
    }
    const decision = afterExit(code, this.#restarts, ranMs);
    if (!decision.restart) {
      this.givenUp = `${how}; ${decision.reason}`;
      this.#log.error(`${this.plan.title} ended (${how}) and is not started again: ${decision.reason}`);
      this.#onGivenUp();
      return;
    }
    this.#restarts = decision.restarts;
    this.#log.warn(`${this.plan.title} ended (${how}); it is started again in ${formatDuration(decision.delayMs)}`);
    this.#cancelRestart = this.#io.clock.after(decision.delayMs, () => this.start());
  }
}
