import { closeNames, nameKey } from "@farmgate/shared";
import type { AliasTarget } from "../catalog/types.ts";

/** Names that a message holds before it only counts. */
const NAMED = 5;

/** Nobody has a model of that name: which ones it may have meant. `known`: the names of all there are. */
export function unknownWords(name: string, known: readonly string[]): string {
  const nobody = `No worker has the model "${shortened(name)}"`;
  const tagged = known.filter((id) => nameKey(id).startsWith(`${nameKey(name)}:`)).toSorted();
  if (tagged.length > 1)
    return `${nobody}, but several of that name: ${listed(tagged.map(quoted))}. Ask for one of them.`;
  const close = closeNames(name, known);
  return close.length === 0 ? `${nobody}.` : `${nobody}. Close to it: ${close.map(quoted).join(", ")}.`;
}

/** The name is an alias of different models; `targets` are those that the caller may know of. */
export function ambiguousWords(name: string, targets: readonly AliasTarget[]): string {
  const models = targets.map(({ id, workers }) => `${quoted(id)} (${workers.slice(0, NAMED).join(", ")})`);
  const named = models.length === 0 ? "" : `: ${listed(models)}`;
  return `The name "${shortened(name)}" stands for different models${named}. Ask for one of them by its own name.`;
}

/** The worker that was asked for does not have the model; `having` are those that do, at least one. */
export function lackingWords(name: string, worker: string, having: readonly string[]): string {
  return `The worker ${worker} does not have the model "${shortened(name)}"; it is on ${listed(having)}.`;
}

function listed(words: readonly string[]): string {
  if (words.length <= NAMED) return words.join(", ");
  return `${words.slice(0, NAMED).join(", ")} and ${words.length - NAMED} more`;
}

function quoted(name: string): string {
  return `"${name}"`;
}

function shortened(name: string): string {
  return name.slice(0, 200);
}
