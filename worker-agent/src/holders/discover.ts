import type { Log } from "@farmgate/wire";
import type { Holders } from "./holders.ts";
import type { HeldBy, ServedModel } from "../served-model.ts";

const KINDS: readonly HeldBy["kind"][] = ["script", "command", "engine"];

/**
 * What is loaded already. Of the models that replace one another the first that answers counts, beside those that are
 * pinned: only one of them can be loaded. Where a holder cannot tell, nothing of it is taken to be loaded.
 */
export async function discover(
  holders: Holders,
  models: readonly ServedModel[],
  replaces: (model: ServedModel, other: ServedModel) => boolean,
  log: Log,
): Promise<ServedModel[]> {
  const loaded: ServedModel[] = [];
  const others: string[] = [];
  for (const kind of KINDS) {
    for (const model of await askFor(holders, kind, models, log)) {
      const second = !model.pinned && loaded.some((other) => !other.pinned && replaces(model, other));
      if (second) others.push(model.name);
      else loaded.push(model);
    }
  }
  const names = loaded.map(({ name }) => name);
  if (others.length > 0)
    log.warn({ models: names, others }, `more than one model answers; taken as loaded: ${names.join(", ")}`);
  else if (names.length > 0) log.info({ models: names }, `found loaded: ${names.join(", ")}`);
  return loaded;
}

async function askFor(
  holders: Holders,
  kind: HeldBy["kind"],
  models: readonly ServedModel[],
  log: Log,
): Promise<ServedModel[]> {
  try {
    return await holders.found(kind, models, new AbortController().signal);
  } catch (error) {
    log.warn({ error: String(error) }, "it is not known what is loaded; nothing is taken to be");
    return [];
  }
}
