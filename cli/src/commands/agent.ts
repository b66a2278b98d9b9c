import { isDeepStrictEqual } from "node:util";
import { createLog } from "@farmgate/wire";
import { longestStopMs, startAgent } from "@farmgate/worker-agent";
import type { Command } from "commander";
import { agentPart } from "../config/agent-part.ts";
import { openConfig } from "../config/open-config.ts";
import { scriptEnvironment } from "../config/script-environment.ts";
import { graceful } from "../graceful-end.ts";
import type { Io } from "../io.ts";
import { listening } from "../listening.ts";
import { fileState, reloadOnChange } from "../reload-on-change.ts";

export function addAgentCommand(program: Command, io: Io): void {
  program
    .command("agent")
    .description("Run one worker agent, on the machine that has the models.")
    .requiredOption("--config <file>", "an agent file, or a farm file for one of its agents")
    .option("--name <name>", "which agent of the farm file")
    .action((options: { config: string; name?: string }) => runAgent(options.config, options.name ?? null, io));
}

async function runAgent(file: string, name: string | null, io: Io): Promise<void> {
  const known = fileState(file);
  const opened = await openConfig(file, io.env);
  const config = agentPart(opened, name);
  const log = createLog(`agent ${config.name}`);
  const agent = await listening(
    () =>
      startAgent({
        config,
        directory: opened.directory,
        environment: scriptEnvironment(io.env, opened.document.env),
        clock: io.clock,
        log,
        version: io.version,
      }),
    config.listen,
    `listen.port in ${file}`,
  );
  const watching = reloadOnChange({
    file,
    known,
    read: async () => agentPart(await openConfig(file, io.env), name),
    reload(next) {
      const restartNeeded = changedKeys(config, next);
      // Of a farm file most changes are about others: those are not worth a line.
      return { applied: opened.kind === "farm", restartNeeded };
    },
    clock: io.clock,
    log,
  });
  const close = () => {
    watching.stop();
    return agent.close();
  };
  const drainMs = () => longestStopMs(config);
  await graceful({ io, log, drainMs, close, onHangUp: () => watching.look() }).ended;
}

/** An agent holds models, queues and engines by what it was started with: a change of its file waits for a restart. */
function changedKeys<T extends object>(before: T, next: T): string[] {
  const keys = Object.keys({ ...before, ...next }) as (keyof T & string)[];
  return keys.filter((key) => !isDeepStrictEqual(before[key], next[key]));
}
