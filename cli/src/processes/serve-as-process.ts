import cluster, { type Worker } from "node:cluster";
import { ProcessHub, shareLimits, startGateway } from "@farmgate/gateway";
import { createLog, type Log } from "@farmgate/wire";
import { EXIT } from "../exit-code.ts";
import { graceful } from "../graceful-end.ts";
import type { Io } from "../io.ts";
import { portOf } from "./worker-port.ts";
import type { FromProcess, ProcessOrder, ToProcess } from "./messages.ts";

type Listener = (message: ToProcess) => void;

/** This very process, where it is one of several of a gateway; null: it is not. */
export function ownWorker(): Worker | null {
  return cluster.worker ?? null;
}

/** Serves as one process of a gateway, with what the primary says. */
export async function serveAsProcess(worker: Worker, io: Io): Promise<void> {
  const listeners = new Set<Listener>();
  worker.on("message", (message: ToProcess) => {
    for (const listener of listeners) listener(message);
  });
  const order = new Promise<ProcessOrder>((resolve) => {
    listeners.add((message) => message.kind === "start" && resolve(message));
  });
  tell(worker, { kind: "up" });
  const { number, processes, id, config, tls } = await order;
  const log = createLog("gateway").child({ process: number });
  const { clock, random, version } = io;
  const port = portOf({ worker, clock, log, listen: (listener) => listeners.add(listener) });
  const hub = new ProcessHub({ id, clock, port });
  // With Redis it meets all others there, those of this host as well.
  const meets = config.redis == null ? { hub, siblings: hub } : { siblings: hub };
  const options = { config: shareLimits(config, processes), tls, clock, random, log, version, ...meets };
  // The primary may have a changed file, or the end, to tell before this process is up.
  const early: ToProcess[] = [];
  const keep = (message: ToProcess) => void early.push(message);
  listeners.add(keep);
  const gateway = await startGateway(options).catch((error: unknown) => endUnstarted(worker, io, error));
  listeners.delete(keep);
  if (gateway === null) return;
  tell(worker, { kind: "listening", url: gateway.url });
  const gone = new Promise<void>((resolve) => {
    worker.once("disconnect", () => resolve());
    if (!worker.isConnected()) resolve();
  });
  let drainMs = config.drain;
  let doAllEnd = false;
  const left = new Promise<void>((resolve) => listeners.add(({ kind }) => kind === "left" && resolve()));
  const close = async (isBroken: boolean) => {
    if (doAllEnd || !worker.isConnected()) return gateway.close();
    const ended = gateway.leave();
    tell(worker, { kind: "leaves", isBroken });
    // A connection that it was handed last goes on to another as it hears of it, and would be lost if it did not.
    await Promise.all([ended, Promise.race([left, gone])]);
  };
  // It is the primary that looks at the file.
  // Up to here Node ends this process when the primary goes; from here on it drains first.
  worker.exitedAfterDisconnect = true;
  const end = graceful({ io, log, drainMs: () => drainMs, close, onHangUp: () => {} });
  const endWithAll = (why: string) => {
    doAllEnd = true;
    // It may be about to leave the others.
    void gateway.close();
    end.begin(why);
  };
  const obey = (message: ToProcess) => {
    if (message.kind === "close") endWithAll("the gateway ends");
    if (message.kind === "renew") attempt(log, () => gateway.renew(message.pair));
    if (message.kind === "reload") {
      drainMs = message.config.drain;
      attempt(log, () => gateway.reload(shareLimits(message.config, processes)));
    }
  };
  for (const message of early) obey(message);
  listeners.add(obey);
  void gone.then(() => endWithAll("the primary process has gone"));
  await end.ended;
}

/** What the primary has found to be in order. */
function attempt(log: Log, change: () => unknown): void {
  try {
    change();
  } catch (error) {
    log.error({ err: error }, "a change could not be applied in this process");
  }
}

function tell(worker: Worker, message: FromProcess, sent: () => void = () => {}): void {
  worker.send(message, undefined, () => sent());
}

async function endUnstarted(worker: Worker, io: Io, error: unknown): Promise<null> {
  const { message, code = null } = error as NodeJS.ErrnoException;
  await new Promise<void>((resolve) => tell(worker, { kind: "failed", message, code }, resolve));
  io.exit(EXIT.failure);
  return null;
}
