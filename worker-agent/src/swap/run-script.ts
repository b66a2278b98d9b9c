import { type ChildProcess, spawn } from "node:child_process";
import { type Clock, type Environment, formatDuration } from "@farmgate/shared";
import { endGroup } from "./process-group.ts";
import { noteRunning } from "./running-note.ts";
import { openOutput, readTail } from "./script-output.ts";

export interface ScriptRun {
  /** Program and arguments. */
  words: readonly string[];
  /** Working directory. */
  directory: string;
  environment: Environment;
  /** Gets standard output and standard error; emptied before the run. */
  outputFile: string;
  /** Says which script runs, while it does. */
  noteFile: string;
  timeoutMs: number;
  clock: Clock;
  /** Ends the script and its process group early. */
  signal: AbortSignal;
}

/** `tail`: the last lines of the output. `reason` reads on after the script's name: "ended with exit code 3". */
export type ScriptResult = { ok: true; tail: string } | { ok: false; reason: string; tail: string };

type Ending =
  | { kind: "exit"; code: number | null; signal: string | null }
  | { kind: "not_run"; error: NodeJS.ErrnoException }
  | { kind: "timeout" }
  | { kind: "stopped" };

/**
 * Runs a script as a process group of its own. Its exit is what counts, not the end of its output: an engine that it
 * leaves in the background keeps the output file open and lives on. Only a script that does not end in time, or is
 * stopped, is ended with its whole group.
 */
export async function runScript(run: ScriptRun): Promise<ScriptResult> {
  const ending = await start(run);
  const tail = await readTail(run.outputFile).catch(() => "");
  if (ending.kind === "exit" && ending.code === 0) return { ok: true, tail };
  return { ok: false, reason: reasonOf(ending, run), tail };
}

async function start(run: ScriptRun): Promise<Ending> {
  const [program = "", ...args] = run.words;
  const output = await openOutput(run.outputFile);
  let ended: Promise<Ending>;
  let child: ChildProcess | null = null;
  try {
    child = spawn(program, args, {
      cwd: run.directory,
      env: run.environment,
      detached: true,
      stdio: ["ignore", output.fd, output.fd],
    });
    ended = endingOf(child, run);
  } catch (error) {
    // Some failures, as too long an argument list, are thrown instead of told by an event.
    ended = Promise.resolve({ kind: "not_run", error: error as NodeJS.ErrnoException });
  } finally {
    await output.close();
  }
  const pid = child?.pid;
  if (pid === undefined) return ended;
  const forget = noteRunning(run.noteFile, pid);
  const ending = await ended;
  if (ending.kind === "timeout" || ending.kind === "stopped") await endGroup(pid, run.clock);
  await forget();
  return ending;
}

function endingOf(child: ChildProcess, run: ScriptRun): Promise<Ending> {
  return new Promise((resolve) => {
    const stopTimer = run.clock.after(run.timeoutMs, () => end({ kind: "timeout" }));
    const stop = () => end({ kind: "stopped" });
    const end = (ending: Ending) => {
      stopTimer();
      run.signal.removeEventListener("abort", stop);
      resolve(ending);
    };
    child.on("exit", (code, signal) => end({ kind: "exit", code, signal }));
    child.on("error", (error) => end({ kind: "not_run", error }));
    run.signal.addEventListener("abort", stop, { once: true });
    if (run.signal.aborted) stop();
  });
}

function reasonOf(ending: Ending, run: ScriptRun): string {
  switch (ending.kind) {
    case "exit":
      return ending.code === null ? `was ended by ${ending.signal}` : `ended with exit code ${ending.code}`;
    case "timeout":
      return `did not end within ${formatDuration(run.timeoutMs)}`;
    case "stopped":
      return "was stopped";
    case "not_run":
      return `cannot be run: ${whyNotRun(ending.error)}`;
  }
}

const NOT_RUN: Readonly<Record<string, string>> = {
  ENOENT: "no such file, or its interpreter is missing",
  EACCES: "it is not executable",
};

function whyNotRun(error: NodeJS.ErrnoException): string {
  return NOT_RUN[error.code ?? ""] ?? error.code ?? error.message;
}
