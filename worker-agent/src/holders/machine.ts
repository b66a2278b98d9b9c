import { isAbsolute, join, resolve } from "node:path";
import type { Clock, Environment } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import { AttachedHolder } from "../attached/attached-holder.ts";
import { CommandHolder } from "../command/command-holder.ts";
import type { AgentConfig } from "../config.ts";
import { Holders } from "./holders.ts";
import type { ModelBook, ServedModel } from "../served-model.ts";
import type { EngineAsker } from "../swap/ask-engine.ts";
import { RunningNotes } from "../swap/running-note.ts";
import { keepOutputSmall, outputDirectory } from "../swap/script-output.ts";
import { splitWords } from "../swap/split-words.ts";
import { SwapRunner } from "../swap/swap-runner.ts";

/** What happens at the engines of a machine by itself. */
interface MachineNews {
  /** An attached engine lists other models now; the book has them already. */
  onModels: () => void;
  /** A model is loaded that the agent did not load. */
  onFound: (model: string) => void;
  /** A model that was ready is gone, and nobody ordered it. `reason` reads on after its name. */
  onLost: (model: string, reason: string) => void;
}

interface MachineOptions {
  config: AgentConfig;
  directory: string;
  environment: Environment;
  models: ModelBook;
  asker: EngineAsker;
  news: MachineNews;
  clock: Clock;
  log: Log;
}

/** This machine's engines, whichever way each is held. */
export interface Machine {
  holders: Holders;
  attached: AttachedHolder;
  /** Where the output of scripts and commands goes. */
  outputDirectory: string;
  stopTrimming: () => void;
}

/**
 * Makes the holders ready: what an agent that was killed left behind is ended or held on to, and every attached engine
 * has been looked at once.
 */
export async function startMachine(options: MachineOptions): Promise<Machine> {
  const { config, directory, environment, models, asker, news, clock, log } = options;
  const outputs = await outputDirectory(directory, config.name);
  const notes = new RunningNotes(join(outputs, "running"));
  const shared = { directory, environment, outputDirectory: outputs, notes, pollMs: config.swap.poll, clock };
  const words = commandWords(config.swap.command ?? "", directory);
  const { status: asksStatus, unload: unloads } = config.swap;
  const script = new SwapRunner({ ...shared, words, asksStatus, unloads, log }, asker);
  const command = new CommandHolder({ ...shared, log, onLost: news.onLost }, asker);
  const onModels = (url: string, listed: readonly ServedModel[]) => {
    models.replaceEngine(url, listed);
    news.onModels();
  };
  const attached = new AttachedHolder(config, models.models, { asker, clock, log, news: { ...news, onModels } });
  await script.endLeftovers(models.models);
  await command.endOrAdoptLeftovers(models.models);
  await attached.start();
  const holders = new Holders({ script, command, engine: attached });
  return { holders, attached, outputDirectory: outputs, stopTrimming: keepOutputSmall(outputs, clock) };
}

/** As words, the program's path being relative to the configuration's folder. */
function commandWords(command: string, directory: string): string[] {
  const [program = "", ...args] = splitWords(command) ?? [];
  return [program.includes("/") && !isAbsolute(program) ? resolve(directory, program) : program, ...args];
}
