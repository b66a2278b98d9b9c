import { isLoopback, nameKey } from "@farmgate/shared";
import type { AgentConfig } from "./config.ts";
import { splitWords } from "./swap/split-words.ts";

/** Words that the swap script takes as its first argument, so that no model can have them as its name. */
const SCRIPT_WORDS: ReadonlySet<string> = new Set(["status", "unload"]);

type Report = (path: readonly PropertyKey[], message: string) => void;

/** What no single key can tell: names that meet, keys that need one another. Reports every problem with its path. */
export function crossCheck(config: AgentConfig, report: Report): void {
  checkNames(config, report);
  checkCommand(config, report);
  checkKeys(config, report);
}

function checkNames(config: AgentConfig, report: Report): void {
  const owners = new Map<string, string>();
  const claim = (spelling: string, path: readonly PropertyKey[], owner: string) => {
    const taken = owners.get(nameKey(spelling));
    if (taken !== undefined) report(path, `${JSON.stringify(spelling)} already names ${taken}`);
    else owners.set(nameKey(spelling), owner);
  };
  for (const [i, model] of config.models.entries()) {
    if (SCRIPT_WORDS.has(nameKey(model.name))) {
      report(
        ["models", i, "name"],
        `a model cannot be named ${model.name}: the swap script takes that word as an order`,
      );
    }
    claim(model.name, ["models", i, "name"], `models[${i}]`);
  }
  for (const [i, model] of config.models.entries()) {
    for (const [j, alias] of model.aliases.entries()) claim(alias, ["models", i, "aliases", j], `models[${i}]`);
  }
}

function checkCommand(config: AgentConfig, report: Report): void {
  const { command, unload } = config.swap;
  if (command === undefined) {
    if (config.models.length > 0) report(["swap", "command"], "is needed: the models are loaded by a swap script");
  } else {
    const words = splitWords(command);
    if (words === null) report(["swap", "command"], "a quote is not closed");
    else if (words.length === 0) report(["swap", "command"], "must not be empty");
  }
  if (unload) return;
  if (config.memory.budget > 0) report(["memory", "budget"], "needs `swap.unload: true` for models of a swap script");
  for (const [i, model] of config.models.entries()) {
    if (model.ttl > 0) report(["models", i, "ttl"], "needs `swap.unload: true` for a model of the swap script");
  }
}

function checkKeys(config: AgentConfig, report: Report): void {
  if (config.keys.length === 0 && !config.open && !isLoopback(config.listen.host)) {
    report(["keys"], `needed to listen on ${config.listen.host}; \`open: true\` allows every caller without one`);
  }
  const names = new Set<string>();
  for (const [i, key] of config.keys.entries()) {
    if (names.has(key.name)) report(["keys", i, "name"], `there are two keys named ${key.name}`);
    names.add(key.name);
  }
}
