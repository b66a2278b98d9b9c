import { nameKey, type ReportProblem } from "@farmgate/shared";
import type { AgentShape } from "../config.ts";

/** Words that the swap script takes as its first argument, so that no model of the script can have them as its name. */
const SCRIPT_WORDS: ReadonlySet<string> = new Set(["status", "unload"]);

/** Every name and alias means one model, whoever holds it; a name comes before an alias. */
export function checkNames(config: AgentShape, report: ReportProblem): void {
  const owners = new Map<string, string>();
  const claim = (spelling: string, path: readonly PropertyKey[], owner: string) => {
    const taken = owners.get(nameKey(spelling));
    if (taken !== undefined) report(path, `${JSON.stringify(spelling)} already names ${taken}`);
    else owners.set(nameKey(spelling), owner);
  };
  for (const { name, path, owner } of named(config)) claim(name, path, owner);
  for (const { aliases, at, owner } of named(config)) {
    for (const [j, alias] of aliases.entries()) claim(alias, [...at, "aliases", j], owner);
  }
}

export function checkScriptWords({ models }: AgentShape, report: ReportProblem): void {
  for (const [i, { name, command }] of models.entries()) {
    if (command !== undefined || !SCRIPT_WORDS.has(nameKey(name))) continue;
    report(["models", i, "name"], `a model cannot be named ${name}: the swap script takes that word as an order`);
  }
}

interface Named {
  name: string;
  aliases: readonly string[];
  /** Of the model's entry. */
  at: readonly PropertyKey[];
  /** Of its name. */
  path: readonly PropertyKey[];
  owner: string;
}

/** The models of the file, those that it names of an attached engine among them. */
function named({ models, engines }: AgentShape): Named[] {
  const own = models.map(({ name, aliases }, i) => {
    const at = ["models", i];
    return { name, aliases, at, path: [...at, "name"], owner: `models[${i}]` };
  });
  const attached = engines.flatMap((engine, i) =>
    Object.entries(engine.models).map(([name, { aliases }]) => {
      const at = ["engines", i, "models", name];
      return { name, aliases, at, path: at, owner: `${JSON.stringify(name)} of engines[${i}]` };
    }),
  );
  return [...own, ...attached];
}
