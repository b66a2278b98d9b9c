import { type GatewayConfig, startGateway } from "@farmgate/gateway";
import { createLog } from "@farmgate/wire";
import type { Command } from "commander";
import { gatewayPart } from "../config/gateway-part.ts";
import { openConfig } from "../config/open-config.ts";
import { portFlag } from "../flags.ts";
import { graceful } from "../graceful-end.ts";
import type { Io } from "../io.ts";
import { listening } from "../listening.ts";
import { fileState, reloadOnChange } from "../reload-on-change.ts";

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
  const known = fileState(file);
  const config = await read();
  const log = createLog("gateway");
  const { clock, random, version } = io;
  const gateway = await listening(
    () => startGateway({ config, clock, random, log, version }),
    config.listen,
    port === null ? `listen.port in ${file}` : "--port",
  );
  let drainMs = config.drain;
  const reload = (next: GatewayConfig) => {
    drainMs = next.drain;
    return gateway.reload(next);
  };
  const watching = reloadOnChange({ file, known, read, reload, clock, log });
  const close = async () => {
    watching.stop();
    await gateway.close();
  };
  await graceful({ io, log, drainMs: () => drainMs, close, onHangUp: () => watching.look() }).ended;
}
