import { availableParallelism } from "node:os";
import { type GatewayConfig, type RunningGateway, startGateway } from "@farmgate/gateway";
import { formatProblem } from "@farmgate/shared";
import { createLog, type Log } from "@farmgate/wire";
import { gatewayFiles, pairAnew, type WithCertificates } from "../config/certificate-files.ts";
import { Certificates } from "../config/certificates.ts";
import { gatewayPart } from "../config/gateway-part.ts";
import { openConfig, type OpenedConfig } from "../config/open-config.ts";
import { graceful } from "../graceful-end.ts";
import type { Io } from "../io.ts";
import { listening } from "../listening.ts";
import { GatewayProcesses } from "../processes/gateway-processes.ts";
import { ownWorker, serveAsProcess } from "../processes/serve-as-process.ts";
import { fileState, reloadOnChange } from "../reload-on-change.ts";
import { renewOnChange } from "../renew-certificates.ts";

/** A gateway that runs, in this process or as several. */
type Running = Pick<RunningGateway, "reload" | "renew" | "close"> & { kill?: () => void };

export async function runGateway(file: string, port: number | null, io: Io): Promise<void> {
  const worker = ownWorker();
  if (worker !== null) return serveAsProcess(worker, io);
  const filesOf = async (opened: OpenedConfig) => {
    const found = new Certificates(opened, io.clock.wall());
    const files = await gatewayFiles(opened, gatewayPart(opened, port), found);
    found.orThrow();
    return { ...files, opened, found };
  };
  const read = async () => filesOf(await openConfig(file, io.env));
  const known = fileState(file);
  const { config, tls, opened, found } = await read();
  const log = createLog("gateway");
  for (const warning of found.warnings) log.warn(formatProblem(warning, file));
  const { clock } = io;
  const gateway = await listening(
    () => started({ config, tls }, io, log, () => end.fail("no process of the gateway runs any more")),
    config.listen,
    port === null ? `listen.port in ${file}` : "--port",
  );
  let inUse = opened;
  // The configuration itself is not read again: it may be half written, or one that is refused.
  const trustAnew = async (): Promise<void> => {
    const from = inUse;
    const next = await filesOf(from);
    if (from !== inUse) return trustAnew();
    gateway.reload(next.config);
  };
  const renewing = renewOnChange({
    log,
    async take() {
      // By the names that it was started with: others wait for a restart.
      const pair = await pairAnew(opened, config.tls, io.clock.wall());
      if (pair !== null) gateway.renew(pair);
      await trustAnew();
    },
  });
  renewing.watch(found.files);
  let drainMs = config.drain;
  const reload = (next: Awaited<ReturnType<typeof read>>) => {
    renewing.watch(next.found.files);
    inUse = next.opened;
    drainMs = next.config.drain;
    return gateway.reload(next.config);
  };
  const watching = reloadOnChange({ file, known, read, reload, clock, log });
  const close = async () => {
    watching.stop();
    renewing.stop();
    await gateway.close();
  };
  const onHangUp = () => watching.look();
  const end = graceful({ io, log, drainMs: () => drainMs, close, onHangUp, endHard: () => gateway.kill?.() });
  await end.ended;
}

async function started(
  { config, tls }: WithCertificates<GatewayConfig>,
  io: Io,
  log: Log,
  onAllGivenUp: () => void,
): Promise<Running> {
  const { clock, random, version } = io;
  const count = config.processes === "auto" ? availableParallelism() : config.processes;
  if (count === 1) return startGateway({ config, tls, clock, random, log, version });
  const processes = new GatewayProcesses({ io, log, config, tls, count, onAllGivenUp });
  await processes.start();
  return processes;
}
