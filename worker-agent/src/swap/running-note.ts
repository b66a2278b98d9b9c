import { readFile, rm, writeFile } from "node:fs/promises";
import { pid as ownPid } from "node:process";
import type { Clock } from "@farmgate/shared";
import { z } from "zod";
import { endGroup } from "./process-group.ts";
import { identityOf, isAlive } from "./process-identity.ts";

const identity = z.object({ pid: z.int().positive(), start: z.string() });
const noteSchema = z.object({ agent: identity, script: identity });

/**
 * Notes in a file that this agent's script runs, until the returned function is called. Where the system does not tell
 * processes apart, nothing is noted.
 */
export function noteRunning(file: string, scriptPid: number): () => Promise<void> {
  const noted = write(file, scriptPid).catch(() => {});
  return async () => {
    await noted;
    await rm(file, { force: true }).catch(() => {});
  };
}

/**
 * Ends the script, with its process group, that an agent left behind which was killed; tells whether there was one. The
 * script of an agent that lives is left alone, and so is what a script that has ended left in the background.
 */
export async function endLeftover(file: string, clock: Clock): Promise<boolean> {
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return false;
  const note = noteSchema.safeParse(parsed(text)).data;
  if (note === undefined || (await isAlive(note.agent)) || !(await isAlive(note.script))) return false;
  await endGroup(note.script.pid, clock);
  await rm(file, { force: true });
  return true;
}

async function write(file: string, scriptPid: number): Promise<void> {
  const [agent, script] = await Promise.all([identityOf(ownPid), identityOf(scriptPid)]);
  if (agent !== null && script !== null) await writeFile(file, JSON.stringify({ agent, script }));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
