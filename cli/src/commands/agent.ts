import { createLog } from "@farmgate/wire";
import { longestStopMs, startAgent } from "@farmgate/worker-agent";
import type { Command } from "commander";
import { agentPart } from "../config/agent-part.ts";
import { openConfig } from "../config/open-config.ts";
import { scriptEnvironment } from "../config/script-environment.ts";
import { graceful } from "../graceful-end.ts";
import type { Io } from "../io.ts";
import { listening } from "../listening.ts";

export function addAgentCommand(program: Command, io: Io): void {
  program
    .command("agent")
    .description("Run one worker agent, on the machine that has the models.")
    .requiredOption("--config <file>", "an agent file, or a farm file for one of its agents")
    .option("--name <name>", "which agent of the farm file")
    .action((options: { config: string; name?: string }) => runAgent(options.config, options.name ?? null, io));
}

async function runAgent(file: string, name: string | null, io: Io): Promise<void> {
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
  await graceful({ io, log, drainMs: longestStopMs(config), close: () => agent.close() }).ended;
}
