import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type ConfigProblem, formatPath } from "@farmgate/shared";
import { splitWords } from "@farmgate/worker-agent";
import type { OpenedConfig } from "./open-config.ts";

/**
 * What keeps the swap scripts and commands of a file from being run here. These are warnings, since a file may be
 * checked on another machine than the agent's. A program without a slash is left alone: which folders it is looked for
 * in is the affair of the machine and the service that runs it.
 */
export async function programWarnings(opened: OpenedConfig): Promise<ConfigProblem[]> {
  const warnings: ConfigProblem[] = [];
  const troubles = new Map<string, string | null>();
  for (const path of agentPaths(opened).flatMap((agent) => programPaths(opened, agent))) {
    const command = valueAt(opened.document.value, path);
    const [program = ""] = typeof command === "string" ? (splitWords(command) ?? []) : [];
    if (!program.includes("/")) continue;
    const known = troubles.get(program);
    const message = known === undefined ? await programTrouble(program, opened.directory) : known;
    troubles.set(program, message);
    if (message !== null) warnings.push({ path: formatPath(path), line: opened.document.lineOf(path), message });
  }
  return warnings;
}

function programPaths({ document }: OpenedConfig, agent: readonly PropertyKey[]): PropertyKey[][] {
  const models = valueAt(document.value, [...agent, "models"]);
  const commands = Array.isArray(models) ? models.map((_, i) => [...agent, "models", i, "command"]) : [];
  return [[...agent, "swap", "command"], ...commands];
}

function agentPaths({ kind, document }: OpenedConfig): PropertyKey[][] {
  if (kind === "agent") return [[]];
  const agents = kind === "farm" ? valueAt(document.value, ["agents"]) : [];
  return Array.isArray(agents) ? agents.map((_, i) => ["agents", i]) : [];
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((part, step) => (part as Record<PropertyKey, unknown> | null | undefined)?.[step], value);
}

async function programTrouble(program: string, directory: string): Promise<string | null> {
  const file = resolve(directory, program);
  const found = await stat(file).catch(() => null);
  if (found === null) return `there is no file ${program}`;
  if (!found.isFile()) return `${program} is no file`;
  return access(file, constants.X_OK).then(
    () => null,
    () => `${program} is not executable: chmod +x ${program}`,
  );
}
