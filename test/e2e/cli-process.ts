import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../cli/dist/main.js", import.meta.url));
const CEILING_MS = 30_000;
const POLL_MS = 20;

/** Ports that nobody listens on now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once("error", reject);
          server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Resolves once `holds` gives something, looking again and again; rejects after a generous while. */
export async function eventually<T>(what: string, holds: () => T | null | Promise<T | null>): Promise<T> {
  const until = performance.now() + CEILING_MS;
  for (;;) {
    const value = await holds();
    if (value !== null) return value;
    if (performance.now() > until) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export interface CliOptions {
  cwd?: string;
  env?: Record<string, string>;
}

const running = new Set<CliProcess>();

/** The built `farmgate` binary as a process of its own. */
export class CliProcess {
  readonly #child: ChildProcess;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  stdout = "";
  stderr = "";

  constructor(args: readonly string[], options: CliOptions = {}) {
    const { npm_lifecycle_event: _, ...inherited } = process.env;
    this.#child = spawn(process.execPath, [MAIN, ...args], {
      cwd: options.cwd,
      env: { ...inherited, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text;
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    running.add(this);
    this.ended = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => {
        running.delete(this);
        resolve(code ?? signal ?? "");
      });
    });
  }

  /** Resolves once standard output holds the text; rejects when the process ends before. */
  async told(text: string): Promise<void> {
    await eventually(`"${text}" in ${this.stdout}${this.stderr}`, () => {
      if (this.stdout.includes(text)) return true;
      if (!running.has(this)) throw new Error(`ended without "${text}": ${this.stdout}${this.stderr}`);
      return null;
    });
  }

  /** The lines of its log, in order. */
  log(): { name: string; msg: string; pid: number; level: string }[] {
    return this.stdout
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as { name: string; msg: string; pid: number; level: string });
  }

  signal(signal: NodeJS.Signals = "SIGTERM"): void {
    this.#child.kill(signal);
  }
}

/** Runs it to its end. */
export async function runCli(args: readonly string[], options: CliOptions = {}) {
  const cli = new CliProcess(args, options);
  const code = await cli.ended;
  return { code, stdout: cli.stdout, stderr: cli.stderr };
}

/** Ends what a test has left running; children of `up` end with it. */
export async function endAll(): Promise<void> {
  const left = [...running];
  for (const cli of left) cli.signal("SIGTERM");
  const timer = setTimeout(() => {
    for (const cli of left) cli.signal("SIGKILL");
  }, 10_000);
  await Promise.all(left.map((cli) => cli.ended));
  clearTimeout(timer);
}
