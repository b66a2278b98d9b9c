import type { ReportProblem } from "@farmgate/shared";
import type { AgentShape } from "../config.ts";
import { splitWords } from "../swap/split-words.ts";
import { someNames } from "./some-names.ts";

/** Who loads each model: a `command` of its own, else the swap script, which then must be there. */
export function checkCommands({ swap, models }: AgentShape, report: ReportProblem): void {
  for (const [i, { command }] of models.entries()) checkWords(command, ["models", i, "command"], report);
  checkWords(swap.command, ["swap", "command"], report);
  const scripted = models.filter(({ command }) => command === undefined);
  if (swap.command !== undefined || scripted.length === 0) return;
  const names = someNames(scripted.map(({ name }) => name));
  report(["swap", "command"], `is needed: a swap script loads what has no \`command\` of its own (${names})`);
}

function checkWords(command: string | undefined, path: readonly PropertyKey[], report: ReportProblem): void {
  if (command === undefined) return;
  const words = splitWords(command);
  if (words === null) report(path, "a quote is not closed");
  else if (words.length === 0) report(path, "must not be empty");
  else if (command.includes("\0")) report(path, "must not hold the character NUL: no program takes it");
}
