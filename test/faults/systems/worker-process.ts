import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("./worker-main.ts", import.meta.url));

/** A good worker as a process that can be killed, stopped and started again at its address. */
export class WorkerProcess {
  readonly #models: readonly string[];
  #child: ChildProcess | null = null;
  url = "";

  constructor(models: readonly string[]) {
    this.#models = models;
  }

  async start(): Promise<this> {
    const port = this.url === "" ? "0" : new URL(this.url).port;
    const child = spawn(process.execPath, [...process.execArgv, MAIN, port, ...this.#models], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child = child;
    this.url = await new Promise<string>((resolve, reject) => {
      child.stdout.once("data", (line: Buffer) => resolve(line.toString().trim()));
      child.once("exit", () => reject(new Error("a worker ended at its start")));
    });
    return this;
  }

  signal(name: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(name);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }
}
