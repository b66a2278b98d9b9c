import { startGateway } from "@farmgate/gateway";
import { createLog } from "@farmgate/wire";
import type { Command } from "commander";
import { gatewayPart } from "../config/gateway-part.ts";
import { openConfig } from "../config/open-config.ts";
import { portFlag } from "../flags.ts";
import { graceful } from "../graceful-end.ts";
import type { Io } from "../io.ts";
import { listening } from "../listening.ts";
import { reloadOnChange } from "../reload-on-change.ts";

export function addGatewayCommand(program: Command, io: Io): void {
  program
    .command("gateway")
    .description("Run one gateway. A changed file is applied without a restart.")
    .requiredOption("--config <file>", "a gateway file, or a farm file for its gateway part")
    .option("--port <n>", "listen here instead of at the file's port", portFlag)
    .action((options: { config: string; port?: number }) => runGateway(options.config, options.port ?? null, io));
}

async function runGateway(file: string, port: number | null, io: Io): Promise<void> {
  const read = async () => gatewayPart(await openConfig(file, io.env), port);
  const config = await read();
  const log = createLog("gateway");
  const { clock, random, version } = io;
  const gateway = await listening(
    () => startGateway({ config, clock, random, log, version }),
    config.listen,
    port === null ? `listen.port in ${file}` : "--port",
  );
  const stopWatching = reloadOnChange({ file, read, reload: (next) => gateway.reload(next), log });
  const close = async () => {
    stopWatching();
    await gateway.close();
  };
  await graceful({ io, log, drainMs: config.drain, close }).ended;
}
