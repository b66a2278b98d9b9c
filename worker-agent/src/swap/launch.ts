import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import type { Duplex } from "node:stream";
import type { Environment } from "@farmgate/shared";
import { identityOf, type ProcessIdentity } from "./process-identity.ts";
import type { Forget, NotedRun, RunningNotes } from "./running-note.ts";

/**
 * The process waits for a word of the agent before it becomes the program. The agent says it when the process is noted;
 * an agent that dies before that says nothing, and the process ends. So whatever runs is noted, at every moment. The
 * program's words are arguments of this fixed text and are never parsed. (A shell passes on only variables whose names
 * it could have itself.)
 */
const GATE = 'read -r go <&3 && exec "$@" 3<&-';

export interface Launch {
  /** Program and arguments. */
  words: readonly string[];
  /** Working directory. */
  directory: string;
  environment: Environment;
  /** Descriptor of the file that gets standard output and standard error. */
  output: number;
  notes: RunningNotes;
  noted: NotedRun;
}

/** How a process ended, or why it never ran. */
export type Exit =
  | { kind: "exit"; code: number | null; signal: string | null }
  | { kind: "not_run"; error: NodeJS.ErrnoException };

export interface Launched {
  /** null: it never ran. It leads a process group of its own. */
  pid: number | null;
  /** null: it never ran, has ended already, or the system does not tell processes apart. */
  identity: ProcessIdentity | null;
  /** Of the process itself, not of what it left in the background. */
  exited: Promise<Exit>;
  /** Takes its note away: its group is gone, or on its own from now on. */
  forget: Forget;
}

/** Starts a program as a process group of its own, noted before it runs. Never rejects. */
export async function launch(run: Launch): Promise<Launched> {
  const missing = await whyMissing(run);
  if (missing !== null) return notRun(missing);
  let child: ChildProcess;
  try {
    child = spawn("/bin/sh", ["-c", GATE, "farmgate", ...run.words], {
      cwd: run.directory,
      env: run.environment,
      detached: true,
      stdio: ["ignore", run.output, run.output, "pipe"],
    });
  } catch (error) {
    // Some failures, as too long an argument list, are thrown instead of told by an event.
    return notRun(error as NodeJS.ErrnoException);
  }
  const exited = new Promise<Exit>((resolve) => {
    child.on("exit", (code, signal) => resolve({ kind: "exit", code, signal }));
    child.on("error", (error) => resolve({ kind: "not_run", error }));
  });
  const gate = child.stdio[3] as Duplex | undefined;
  // Its other end closes when the program starts, or the process was ended before.
  gate?.on("error", () => {});
  const pid = child.pid ?? null;
  const identity = pid === null ? null : await identityOf(pid);
  // A note that cannot be written (a full disk) is no reason to refuse work.
  const forget = identity === null ? nothing : await run.notes.add(identity, run.noted).catch(() => nothing);
  gate?.end("go\n");
  return { pid, identity, exited, forget };
}

/** Reads on after the program's name: "ended with exit code 3". */
export function howEnded(exit: Exit): string {
  if (exit.kind === "not_run") return `cannot be run: ${NOT_RUN[exit.error.code ?? ""] ?? exit.error.message}`;
  return exit.code === null ? `was ended by ${exit.signal}` : `ended with exit code ${exit.code}`;
}

const NOT_RUN: Readonly<Record<string, string>> = {
  ENOENT: "no such file, or its interpreter is missing",
  EACCES: "it is not executable",
};

const nothing: Forget = async () => {};

function notRun(error: NodeJS.ErrnoException): Launched {
  return { pid: null, identity: null, exited: Promise.resolve({ kind: "not_run", error }), forget: nothing };
}

/** Looks for the program as the shell will, since that would tell a missing one by no more than an exit code. */
async function whyMissing({ words, directory, environment }: Launch): Promise<NodeJS.ErrnoException | null> {
  const [program = ""] = words;
  const path = environment["PATH"];
  if (path === undefined && !program.includes("/")) return null;
  const folders = program.includes("/") ? [directory] : (path ?? "").split(delimiter);
  let found: NodeJS.ErrnoException = Object.assign(new Error("not found"), { code: "ENOENT" });
  for (const folder of folders) {
    const file = program.includes("/") ? resolve(folder, program) : join(resolve(directory, folder), program);
    try {
      if ((await stat(file)).isDirectory()) throw Object.assign(new Error("a folder"), { code: "EACCES" });
      await access(file, constants.X_OK);
      return null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EACCES") found = error as NodeJS.ErrnoException;
    }
  }
  return found;
}
