import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type ConfigProblem, formatPath } from "@farmgate/shared";
import { splitWords } from "@farmgate/worker-agent";
import type { OpenedConfig } from "./open-config.ts";

/**
 * What keeps the swap scripts of a file from being run here. These are warnings, since a file may be checked on
 * another machine than the agent's. A command without a slash is left alone: which folders it is looked for in is the
 * affair of the machine and the service that runs it.
 */
export async function swapScriptWarnings(opened: OpenedConfig): Promise<ConfigProblem[]> {
  const warnings: ConfigProblem[] = [];
  for (const agent of agentPaths(opened)) {
    const path = [...agent, "swap", "command"];
    const command = valueAt(opened.document.value, path);
    const [script = ""] = typeof command === "string" ? (splitWords(command) ?? []) : [];
    const message = script.includes("/") ? await scriptTrouble(script, opened.directory) : null;
    if (message !== null) warnings.push({ path: formatPath(path), line: opened.document.lineOf(path), message });
  }
  return warnings;
}

function agentPaths({ kind, document }: OpenedConfig): PropertyKey[][] {
  if (kind === "agent") return [[]];
  const agents = kind === "farm" ? valueAt(document.value, ["agents"]) : [];
  return Array.isArray(agents) ? agents.map((_, i) => ["agents", i]) : [];
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((part, step) => (part as Record<PropertyKey, unknown> | null | undefined)?.[step], value);
}

async function scriptTrouble(script: string, directory: string): Promise<string | null> {
  const file = resolve(directory, script);
  const found = await stat(file).catch(() => null);
  if (found === null) return `there is no file ${script}`;
  if (!found.isFile()) return `${script} is no file`;
  return access(file, constants.X_OK).then(
    () => null,
    () => `${script} is not executable: chmod +x ${script}`,
  );
}
