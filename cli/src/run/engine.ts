import { type EngineFlags, type EngineOptions, engineOptionsFromFlags, startEngine } from "@farmgate/simulator";
import { createLog } from "@farmgate/wire";
import { enginePart } from "../config/engine-part.ts";
import { openConfig } from "../config/open-config.ts";
import { usageError } from "../exit-code.ts";
import { graceful } from "../graceful-end.ts";
import type { Io } from "../io.ts";
import { listening } from "../listening.ts";

/** How long running answers may go on at the end, in milliseconds. */
const DRAIN_MS = 5_000;

export interface EngineCommandOptions extends EngineFlags {
  config?: string;
}

export async function runEngine({ config, ...flags }: EngineCommandOptions, io: Io): Promise<void> {
  const options = config === undefined ? fromFlags(flags) : await fromFarm(config, flags.name ?? null, io);
  const log = createLog(`engine ${options.name ?? options.listen.port}`);
  const { clock, random } = io;
  const key = config === undefined ? "--port" : `listen.port of the engine in ${config}`;
  const engine = await listening(() => startEngine(options, { clock, random, log }), options.listen, key);
  await graceful({
    io,
    log,
    drainMs: () => DRAIN_MS,
    close: () => engine.close(DRAIN_MS),
    onHangUp: () => log.warn("SIGHUP: a simulated engine has nothing to read again"),
  }).ended;
}

function fromFlags(flags: EngineFlags): EngineOptions {
  const outcome = engineOptionsFromFlags(flags);
  if (outcome.ok) return outcome.options;
  throw usageError(outcome.problems.join("\n"));
}

async function fromFarm(file: string, name: string | null, io: Io): Promise<EngineOptions> {
  return enginePart(await openConfig(file, io.env), name);
}
