import { link, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pid as ownPid } from "node:process";
import { type Clock, parseJson } from "@farmgate/shared";
import { makeFolder } from "@farmgate/wire";
import { z } from "zod";
import { endGroup } from "./process-group.ts";
import { identityOf, isAlive, type ProcessIdentity } from "./process-identity.ts";
import { fileName } from "./script-output.ts";

const identitySchema = z.object({ pid: z.int().positive(), start: z.string() });
const noteSchema = z.object({
  /** Whose it is. */
  agent: identitySchema,
  /** Leads a process group of its own. */
  process: identitySchema,
  kind: z.enum(["script", "command"]),
  /** Empty where a script was not run for one model. */
  model: z.string(),
  url: z.string(),
  /** Program and arguments. */
  words: z.array(z.string()).readonly(),
  /** Marks all of its processes (`strays.ts`); empty: they are not marked. */
  run: z.string().default(""),
});
export type RunningNote = z.output<typeof noteSchema>;

/** What a note says besides whose process it is. */
export type NotedRun = Omit<RunningNote, "agent" | "process">;

/** Takes a note away. Never rejects. */
export type Forget = () => Promise<void>;

/** A process that an agent left behind when it was killed. Its note is now in this agent's name. */
export interface Leftover {
  note: RunningNote;
  forget: Forget;
}

/** Of one process there may be several notes, since a later agent adds its own: the highest number counts. */
const NOTE_NAME = /^(.+)\.(\d+)\.json$/;

/**
 * Notes in a folder, one file each, of the processes that agents run, so that the next agent finds what was left behind
 * by one that was killed. Where the system does not tell processes apart, nothing is noted and nothing found.
 */
export class RunningNotes {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Notes that this agent runs the process; resolves when that is on disk. Rejects when it cannot be written. */
  async add(process: ProcessIdentity, run: NotedRun): Promise<Forget> {
    const agent = await identityOf(ownPid);
    if (agent === null) return async () => {};
    await makeFolder(this.#directory);
    const name = `${fileName(`${process.pid}-${process.start}`)}.0.json`;
    await this.#publish(name, { agent, process, ...run });
    return () => this.#remove(name);
  }

  /**
   * Takes over the notes of this kind whose agents live no more. When several agents ask at once, each note is given to
   * one of them. Notes of agents that live are left alone.
   */
  async leftovers(kind: NotedRun["kind"]): Promise<Leftover[]> {
    const agent = await identityOf(ownPid);
    if (agent === null) return [];
    const names = await readdir(this.#directory).catch(() => []);
    const latest = new Map<string, number>();
    for (const name of names) {
      const [, process = "", number = ""] = NOTE_NAME.exec(name) ?? [];
      if (process !== "") latest.set(process, Math.max(Number(number), latest.get(process) ?? 0));
    }
    const taken = [...latest].map(([process, number]) => this.#takeOver(process, number, kind, agent));
    return (await Promise.all(taken)).filter((leftover) => leftover !== null);
  }

  async #takeOver(
    process: string,
    number: number,
    kind: NotedRun["kind"],
    agent: ProcessIdentity,
  ): Promise<Leftover | null> {
    const text = await readFile(join(this.#directory, `${process}.${number}.json`), "utf8").catch(() => "");
    const note = noteSchema.safeParse(parseJson(text)).data;
    if (note === undefined || note.kind !== kind || (await isAlive(note.agent))) return null;
    const name = `${process}.${number + 1}.json`;
    const own = { ...note, agent };
    const isOurs = await this.#publish(name, own).catch(() => false);
    if (!isOurs) return null;
    for (let old = number; old >= 0; old -= 1) await this.#remove(`${process}.${old}.json`);
    return { note: own, forget: () => this.#remove(name) };
  }

  /** Writes a whole note or none; false when there is one of that name. */
  async #publish(name: string, note: RunningNote): Promise<boolean> {
    const draft = join(this.#directory, `${name}.${ownPid}.draft`);
    await writeFile(draft, JSON.stringify(note), { mode: 0o600 });
    try {
      await link(draft, join(this.#directory, name));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      // Some file systems know no links.
      await rename(draft, join(this.#directory, name));
      return true;
    } finally {
      await rm(draft, { force: true });
    }
  }

  #remove(name: string): Promise<void> {
    return rm(join(this.#directory, name), { force: true }).catch(() => {});
  }
}

/**
 * Ends the scripts, each with its process group, of agents that were killed; tells whether there was one. What a script
 * that has ended left in the background is left alone. `finish` then brings to an end what the script had begun: a note
 * stands for longer than its script, until the model was ready or gone.
 */
export async function endLeftoverScripts(
  notes: RunningNotes,
  clock: Clock,
  finish: (note: RunningNote) => Promise<void>,
): Promise<boolean> {
  const leftovers = (await notes.leftovers("script")).map(async ({ note, forget }) => {
    const ran = await isAlive(note.process);
    return { note, forget, ran, isGone: !ran || (await endGroup(note.process.pid, clock)) };
  });
  const ended = await Promise.all(leftovers);
  for (const { note, forget, isGone } of ended) {
    await finish(note);
    if (isGone) await forget();
  }
  return ended.some(({ ran }) => ran);
}
