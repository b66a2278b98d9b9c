import { type CrossCheck, isLoopback, nameKey, type ReportProblem } from "@farmgate/shared";
import type { AgentShape } from "./config.ts";
import { addressOf } from "./served-model.ts";
import { splitWords } from "./swap/split-words.ts";

/** Words that the swap script takes as its first argument, so that no model can have them as its name. */
const SCRIPT_WORDS: ReadonlySet<string> = new Set(["status", "unload"]);

/** What no single key can tell: names that meet, keys that need one another. */
export const CROSS_CHECKS: readonly CrossCheck<AgentShape>[] = [
  { reads: ["models"], check: checkNames },
  { reads: ["swap", "models"], check: checkCommand },
  { reads: ["keys", "open", "listen"], check: checkDoor },
  { reads: ["keys"], check: checkKeys },
  { reads: ["engines"], check: checkEngines },
];

function checkNames(config: AgentShape, report: ReportProblem): void {
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

function checkCommand(config: AgentShape, report: ReportProblem): void {
  const { command } = config.swap;
  if (command === undefined) {
    if (config.models.length > 0) report(["swap", "command"], "is needed: the models are loaded by a swap script");
  } else {
    const words = splitWords(command);
    if (words === null) report(["swap", "command"], "a quote is not closed");
    else if (words.length === 0) report(["swap", "command"], "must not be empty");
  }
}

function checkDoor(config: AgentShape, report: ReportProblem): void {
  if (config.keys.length === 0 && !config.open && !isLoopback(config.listen.host)) {
    report(["keys"], `needed to listen on ${config.listen.host}; \`open: true\` allows every caller without one`);
  }
}

function checkKeys(config: AgentShape, report: ReportProblem): void {
  const names = new Set<string>();
  for (const [i, key] of config.keys.entries()) {
    if (names.has(key.name)) report(["keys", i, "name"], `there are two keys named ${key.name}`);
    names.add(key.name);
  }
}

function checkEngines(config: AgentShape, report: ReportProblem): void {
  const known = new Set<string>();
  for (const [i, { url }] of config.engines.entries()) {
    if (known.has(addressOf(url))) report(["engines", i, "url"], `there are two engines at ${url}`);
    known.add(addressOf(url));
  }
}
