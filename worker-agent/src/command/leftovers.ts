import { readFile } from "node:fs/promises";
import type { Clock } from "@farmgate/shared";
import type { ServedModel } from "../served-model.ts";
import { isAlive } from "../swap/process-identity.ts";
import { groupMembers } from "../swap/process-table.ts";
import type { RunningNote } from "../swap/running-note.ts";
import { splitWords } from "../swap/split-words.ts";
import { strays } from "../swap/strays.ts";
import { endRun } from "./running-command.ts";

/** Between SIGTERM and SIGKILL for the command of a model that is no longer configured, in milliseconds. */
const GRACE_MS = 10_000;

/** What is left of a noted command: its process, only others of its group or its strays, or nothing. */
export type Remains = "process" | "group" | "nothing";

/**
 * A process whose leader has ended is taken to be of the noted group only when its environment says so (Linux), since
 * its group's number alone could by now be another's.
 */
export async function remainsOf(note: RunningNote): Promise<Remains> {
  if (await isAlive(note.process)) return "process";
  for (const pid of await groupMembers(note.process.pid)) {
    const environment = (await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")).split("\0");
    const isOurs = [`FARMGATE_MODEL=${note.model}`, `FARMGATE_URL=${note.url}`].every((one) =>
      environment.includes(one),
    );
    if (isOurs) return "group";
  }
  return note.run !== "" && (await strays(note.run)).length > 0 ? "group" : "nothing";
}

/** The model that is still configured with this very command. */
export function modelOf(note: RunningNote, models: readonly ServedModel[]): ServedModel | null {
  const isSame = (model: ServedModel) =>
    model.name === note.model &&
    model.url === note.url &&
    model.heldBy.kind === "command" &&
    JSON.stringify(splitWords(model.heldBy.command)) === JSON.stringify(note.words);
  return models.find(isSame) ?? null;
}

/** False: some of its group could not be ended. */
export function endRemains(note: RunningNote, models: readonly ServedModel[], clock: Clock): Promise<boolean> {
  const model = models.find(({ name }) => name === note.model);
  return endRun(note.process.pid, note.run, clock, model?.stopGraceMs ?? GRACE_MS);
}
