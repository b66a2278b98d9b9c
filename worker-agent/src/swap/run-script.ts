import { type Clock, type Environment, formatDuration } from "@farmgate/shared";
import { type Exit, howEnded, launch } from "./launch.ts";
import { endGroup } from "./process-group.ts";
import type { Forget, RunningNotes } from "./running-note.ts";
import { openOutput, readTail } from "./script-output.ts";

export interface ScriptRun {
  /** Program and arguments. */
  words: readonly string[];
  /** Working directory. */
  directory: string;
  environment: Environment;
  /** Gets standard output and standard error; emptied before the run. */
  outputFile: string;
  /** Say which script runs, while it does. */
  notes: RunningNotes;
  timeoutMs: number;
  clock: Clock;
  /** Ends the script and its process group early. */
  signal: AbortSignal;
  /**
   * Brings to an end what the script has begun, and says what came of it all. Until then its note stands, so that the
   * next agent knows of it should this one be killed. Left out: the script's end is all.
   */
  finish?: (result: ScriptResult) => Promise<ScriptResult>;
}

/** `tail`: the last lines of the output. `reason` reads on after the script's name: "ended with exit code 3". */
export type ScriptResult = { ok: true; tail: string } | { ok: false; reason: string; tail: string };

type Ending = Exit | { kind: "timeout" } | { kind: "stopped" };

/**
 * Runs a script as a process group of its own. Its exit is what counts, not the end of its output: an engine that it
 * leaves in the background keeps the output file open and lives on. Only a script that does not end in time, or is
 * stopped, is ended with its whole group. What an agent that stops leaves half done stays noted.
 */
export async function runScript(run: ScriptRun): Promise<ScriptResult> {
  const { finish = (result) => Promise.resolve(result), outputFile, signal } = run;
  const { ending, forget } = await start(run);
  const tail = await readTail(outputFile).catch(() => "");
  const isGood = ending.kind === "exit" && ending.code === 0;
  const result = await finish(isGood ? { ok: true, tail } : { ok: false, reason: reasonOf(ending, run), tail });
  if (result.ok || !signal.aborted) await forget();
  return result;
}

async function start(run: ScriptRun): Promise<{ ending: Ending; forget: Forget }> {
  const output = await openOutput(run.outputFile);
  const { words, directory, environment, notes } = run;
  const noted = {
    kind: "script",
    model: environment["FARMGATE_MODEL"] ?? "",
    url: environment["FARMGATE_URL"] ?? "",
    words,
    // What a script leaves in the background is to live on.
    run: "",
  } as const;
  const { pid, exited, forget } = await launch({ words, directory, environment, output: output.fd, notes, noted });
  await output.close();
  if (pid === null) return { ending: await exited, forget };
  const ending = await endingOf(exited, run);
  if (ending.kind === "timeout" || ending.kind === "stopped") await endGroup(pid, run.clock);
  return { ending, forget };
}

function endingOf(exited: Promise<Exit>, run: ScriptRun): Promise<Ending> {
  return new Promise((resolve) => {
    const stopTimer = run.clock.after(run.timeoutMs, () => end({ kind: "timeout" }));
    const stop = () => end({ kind: "stopped" });
    const end = (ending: Ending) => {
      stopTimer();
      run.signal.removeEventListener("abort", stop);
      resolve(ending);
    };
    void exited.then(end);
    run.signal.addEventListener("abort", stop, { once: true });
    if (run.signal.aborted) stop();
  });
}

function reasonOf(ending: Ending, run: ScriptRun): string {
  if (ending.kind === "timeout") return `did not end within ${formatDuration(run.timeoutMs)}`;
  return ending.kind === "stopped" ? "was stopped" : howEnded(ending);
}
