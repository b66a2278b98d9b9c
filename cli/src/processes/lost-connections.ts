import type { Worker } from "node:cluster";
import type { ChildProcess } from "node:child_process";

/** A connection that was accepted, before it is anybody's. */
interface Handle {
  close(): void;
}

/** Node's own message that hands a connection to a process, and what the process says to it. */
interface HandOver {
  act?: string;
  seq?: number;
  ack?: number;
}

type Send = (message: HandOver, handle?: Handle, ...rest: unknown[]) => boolean;

/**
 * Closes what a process had been handed and had not taken when it died. Node keeps such a connection open and never looks
 * at it again, so that its caller would wait for ever. Where Node speaks otherwise with its processes, this does nothing.
 */
export function closeLostConnections(worker: Worker): void {
  const { process } = worker as { process: ChildProcess };
  const handedOver = new Map<number, Handle>();
  const send = process.send.bind(process) as unknown as Send;
  const noted: Send = (message, handle, ...rest) => {
    if (message.act === "newconn" && message.seq !== undefined && handle) handedOver.set(message.seq, handle);
    return send(message, handle, ...rest);
  };
  process.send = noted as unknown as ChildProcess["send"];
  process.on("internalMessage", ({ ack }: HandOver) => {
    if (ack !== undefined) handedOver.delete(ack);
  });
  // Between the two, whichever comes first, Node may hand it one more.
  for (const gone of ["exit", "disconnect"]) {
    worker.once(gone, () => {
      for (const handle of handedOver.values()) handle.close();
      handedOver.clear();
    });
  }
}
