import { ConfigError } from "@farmgate/shared";
import { Command, CommanderError } from "commander";
import { addAgentCommand } from "./commands/agent.ts";
import { addCheckCommand } from "./commands/check.ts";
import { addEngineCommand } from "./commands/engine.ts";
import { addExplainCommand } from "./commands/explain.ts";
import { addGatewayCommand } from "./commands/gateway.ts";
import { addHashKeyCommand } from "./commands/hash-key.ts";
import { addPlacementCommand } from "./commands/placement.ts";
import { addSimulateCommand } from "./commands/simulate.ts";
import { addStatusCommand } from "./commands/status.ts";
import { addTraceCommand } from "./commands/trace.ts";
import { addUpCommand } from "./commands/up.ts";
import { CommandError, EXIT } from "./exit-code.ts";
import type { Io } from "./io.ts";
import { checkLogLevel } from "./log-level.ts";

/** Runs what the command line asks for; resolves with the exit code once there is nothing more to do. */
export async function runProgram(io: Io): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = createProgram(io, (code) => {
    exitCode = code;
  });
  try {
    checkLogLevel(io.env);
    await program.parseAsync([...io.argv], { from: "user" });
    return exitCode;
  } catch (error) {
    return failed(error, io);
  }
}

function createProgram(io: Io, finish: (exitCode: number) => void): Command {
  const program = new Command("farmgate")
    .description("One address for the language models of a handful of unequal machines.")
    .version(io.version, "--version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError("(--help lists what there is)")
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns() ?? 100,
      getErrHelpWidth: () => io.stderr.columns() ?? 100,
    });
  addUpCommand(program, io);
  addGatewayCommand(program, io);
  addAgentCommand(program, io);
  addEngineCommand(program, io);
  addCheckCommand(program, io, finish);
  addStatusCommand(program, io, finish);
  addPlacementCommand(program, io, finish);
  addExplainCommand(program, io, finish);
  addTraceCommand(program, io, finish);
  addSimulateCommand(program, io, finish);
  addHashKeyCommand(program, io);
  return program;
}

/** Says what went wrong on standard error, once, and gives the exit code for it. */
function failed(error: unknown, io: Io): number {
  // Commander has printed its own message by now.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof ConfigError) {
    io.stderr.write(`${error.message}\n`);
    return EXIT.usage;
  }
  if (error instanceof CommandError) {
    io.stderr.write(`farmgate: ${error.message}\n`);
    return error.exitCode;
  }
  io.stderr.write(`farmgate: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return EXIT.failure;
}
