import { nameKey, type ReportProblem } from "@farmgate/shared";
import type { AgentShape } from "../config.ts";

/** Words that the swap script takes as its first argument, so that no model of the script can have them as its name. */
const SCRIPT_WORDS: ReadonlySet<string> = new Set(["status", "unload"]);

/**
 * Every name and alias of the configured models means one model; a name comes before an alias. What the file says of an
 * attached engine's models takes none of them. Two engines may list one name: the first serves it, the other in its
 * absence.
 */
export function checkNames({ models, engines }: AgentShape, report: ReportProblem): void {
  const configured = models.map(({ name, aliases }, i) => {
    const at = ["models", i];
    return { name, aliases, at, nameAt: [...at, "name"], owner: `models[${i}]` };
  });
  const owners = claimAll(configured, NOBODY, report);
  for (const [i, engine] of engines.entries()) {
    const named = Object.entries(engine.models).map(([name, { aliases }]) => {
      const at = ["engines", i, "models", name];
      return { name, aliases, at, nameAt: at, owner: JSON.stringify(name) };
    });
    claimAll(named, owners, report);
  }
}

interface Named {
  name: string;
  aliases: readonly string[];
  /** Path of its entry. */
  at: readonly PropertyKey[];
  nameAt: readonly PropertyKey[];
  /** Who it is, in a message. */
  owner: string;
}

const NOBODY: ReadonlyMap<string, string> = new Map();

/** Who has which name, by `nameKey`, once these have theirs; what is taken is reported. */
function claimAll(models: readonly Named[], taken: ReadonlyMap<string, string>, report: ReportProblem) {
  const owners = new Map<string, string>();
  const claim = (spelling: string, path: readonly PropertyKey[], owner: string) => {
    const key = nameKey(spelling);
    const first = taken.get(key) ?? owners.get(key);
    if (first !== undefined) report(path, `${JSON.stringify(spelling)} already names ${first}`);
    else owners.set(key, owner);
  };
  for (const { name, nameAt, owner } of models) claim(name, nameAt, owner);
  for (const { aliases, at, owner } of models) {
    for (const [j, alias] of aliases.entries()) claim(alias, [...at, "aliases", j], owner);
  }
  return owners;
}

export function checkScriptWords({ models }: AgentShape, report: ReportProblem): void {
  for (const [i, { name, command }] of models.entries()) {
    if (command === undefined && name.startsWith("-")) {
      report(["models", i, "name"], "must not start with a dash: the swap script would take it for an option");
    }
    if (command !== undefined || !SCRIPT_WORDS.has(nameKey(name))) continue;
    report(["models", i, "name"], `a model cannot be named ${name}: the swap script takes that word as an order`);
  }
}
