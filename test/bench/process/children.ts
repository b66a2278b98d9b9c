// Every process that the bench starts, so that every one of them is ended: at
// the end, after a failure and on Ctrl-C.
import { fork, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { appendFileSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** How long a process may take to end before it is killed. */
const GRACE_MS = 3_000;
const LINES_SHOWN = 15;

/** No contender writes a line per request. */
const QUIET = { ...process.env, FARMGATE_LOG_LEVEL: "warn" };

export class Children {
  readonly #running = new Set<ChildProcess>();
  readonly #logs = new Map<ChildProcess, string>();
  readonly #last: (() => void)[] = [];
  /** For configuration files and logs; gone with the processes. */
  readonly folder = mkdtempSync(join(tmpdir(), "farmgate-bench-"));

  /** One of the bench's own modules, with a message channel. */
  fork(module: URL, args: string[] = []): ChildProcess {
    return this.#keep(fork(fileURLToPath(module), args, { stdio: ["ignore", "inherit", "inherit", "ipc"] }));
  }

  /** A program under test; what it prints goes to a file. */
  spawn(name: string, command: string, args: string[], cwd?: string): ChildProcess {
    const log = join(this.folder, `${name}-${this.#logs.size}.log`);
    const file = openSync(log, "a");
    const child = this.#keep(spawn(command, args, { stdio: ["ignore", file, file], env: QUIET, ...(cwd && { cwd }) }));
    closeSync(file);
    this.#logs.set(child, log);
    child.on("error", (error) => {
      appendFileSync(log, error.message);
      this.#running.delete(child);
    });
    return child;
  }

  /** The first message of a forked module. */
  message(child: ChildProcess): Promise<unknown> {
    return new Promise((resolve, reject) => {
      child.once("message", resolve);
      child.once("exit", () => reject(new Error("a process of the bench ended at once")));
    });
  }

  isRunning(child: ChildProcess): boolean {
    return this.#running.has(child);
  }

  lastLines(child: ChildProcess): string {
    const log = this.#logs.get(child);
    return log === undefined ? "" : readFileSync(log, "utf8").trimEnd().split("\n").slice(-LINES_SHOWN).join("\n");
  }

  async end(child: ChildProcess): Promise<void> {
    if (!this.isRunning(child)) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
    await gone;
    clearTimeout(timer);
  }

  /** What runs now; more may be started. */
  async endRunning(): Promise<void> {
    await Promise.all([...this.#running].map((child) => this.end(child)));
  }

  /** Done once all have ended, before the folder goes: for what they leave running. */
  afterAll(step: () => void): void {
    this.#last.push(step);
  }

  async endAll(): Promise<void> {
    await this.endRunning();
    this.#endLast();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** For an exit that cannot wait. */
  killAll(): void {
    for (const child of this.#running) child.kill("SIGKILL");
    this.#endLast();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #endLast(): void {
    for (const step of this.#last.splice(0)) step();
  }

  #keep(child: ChildProcess): ChildProcess {
    this.#running.add(child);
    child.once("exit", () => this.#running.delete(child));
    return child;
  }
}
