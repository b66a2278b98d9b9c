import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { until } from "./until.ts";

export const FARMGATE = fileURLToPath(new URL("../../cli/dist/main.js", import.meta.url));

/** One run of the built `farmgate` binary. */
export interface FarmgateProcess {
  readonly child: ChildProcess;
  /** Both outputs so far. */
  output(): string;
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code (or the signal's name) when it has ended. */
  readonly ended: Promise<number | string>;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<number | string>;
}

interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** What a shell does before it becomes the program, such as `ulimit -n 64`. */
  shell?: string;
}

/** Starts `farmgate ARGS`; its end is the caller's duty (see `Cleanup`). */
export function runFarmgate(args: readonly string[], options: RunOptions = {}) {
  const { shell } = options;
  const own = [process.execPath, FARMGATE, ...args];
  const [program = "", ...rest] = shell === undefined ? own : ["/bin/sh", "-c", `${shell}; exec "$0" "$@"`, ...own];
  const child = spawn(program, rest, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const pieces: { from: "stdout" | "stderr"; text: string }[] = [];
  for (const from of ["stdout", "stderr"] as const) {
    child[from].on("data", (data: Buffer) => pieces.push({ from, text: data.toString() }));
  }
  const joined = (wanted: readonly string[]) =>
    pieces.flatMap(({ from, text }) => (wanted.includes(from) ? [text] : [])).join("");
  const ended = new Promise<number | string>((resolve) => {
    child.on("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  const farmgate: FarmgateProcess = {
    child,
    output: () => joined(["stdout", "stderr"]),
    stdout: () => joined(["stdout"]),
    stderr: () => joined(["stderr"]),
    ended,
    async stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
  return farmgate;
}

/** What a test started, ended in reverse order. */
export class Cleanup {
  readonly #steps: (() => unknown)[] = [];

  add<T>(thing: T, end: (thing: T) => unknown): T {
    this.#steps.push(() => end(thing));
    return thing;
  }

  async run(): Promise<void> {
    for (const step of this.#steps.splice(0).toReversed()) await step();
  }

  async folder(): Promise<string> {
    return this.add(await mkdtemp(join(tmpdir(), "farmgate-test-")), (path) =>
      rm(path, { recursive: true, force: true }),
    );
  }

  /** Starts `farmgate gateway` or `farmgate agent` with this configuration and waits until it answers. */
  async program(kind: "gateway" | "agent", config: object, url: string, env: NodeJS.ProcessEnv = {}, shell?: string) {
    const folder = await this.folder();
    const file = join(folder, `${kind}.yaml`);
    await writeFile(file, stringify(config));
    const started = this.add(
      runFarmgate([kind, "--config", file], { env, ...(shell !== undefined && { shell }) }),
      (program) => program.stop(),
    );
    await until(async () => {
      if (started.child.exitCode !== null) throw new Error(`${kind} ended at its start:\n${started.output()}`);
      return await fetch(`${url}${kind === "gateway" ? "/livez" : "/health"}`).then(
        (answer) => answer.ok,
        () => false,
      );
    }, `${kind} answers`);
    return Object.assign(started, { url, folder, file });
  }
}

/** One for a test that runs beside others of its file: `afterEach` would end what those have started. */
export function cleanupAfter(onTestFinished: (end: () => Promise<void>) => void): Cleanup {
  const cleanup = new Cleanup();
  onTestFinished(() => cleanup.run());
  return cleanup;
}
