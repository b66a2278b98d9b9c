import type { Worker } from "node:cluster";
import type { ChildProcess } from "node:child_process";

/** A connection that was accepted, before it is anybody's. */
interface Handle {
  close(): void;
}

/** Node's own messages: one hands a connection to a process, the other tells what became of it, or of its door. */
interface HandOver {
  act?: string;
  seq?: number;
  ack?: number;
  accepted?: boolean;
}

type Send = (message: HandOver, handle?: Handle, ...rest: unknown[]) => boolean;

/**
 * Closes the connections of a gateway's port that no process will ever take, so that their callers need not wait for
 * ever: Node keeps them open and never looks at them again. Where Node speaks otherwise with its processes, this does
 * nothing.
 *
 * 1. A process died with what it had been handed and had not taken.
 * 2. A process closed its door before it heard of one. Node keeps it for the next, and by then no door is open.
 */
export class Doors {
  /** Processes that listen. */
  readonly #open = new Set<Worker>();

  watch(worker: Worker): void {
    const { process } = worker as { process: ChildProcess };
    const handedOver = new Map<number, Handle>();
    const send = process.send.bind(process) as unknown as Send;
    const noted: Send = (message, handle, ...rest) => {
      if (message.act === "newconn" && message.seq !== undefined && handle) handedOver.set(message.seq, handle);
      return send(message, handle, ...rest);
    };
    process.send = noted as unknown as ChildProcess["send"];
    // Node has heard it before: a connection that was not taken is at the next process by now, or kept for one.
    process.on("internalMessage", ({ act, ack, accepted }: HandOver) => {
      if (act === "listening") this.#open.add(worker);
      if (act === "close") this.#open.delete(worker);
      if (ack === undefined) return;
      if (accepted === false && this.#open.size === 0) handedOver.get(ack)?.close(); // (2)
      handedOver.delete(ack);
    });
    // Between the two, whichever comes first, Node may hand it one more.
    for (const gone of ["exit", "disconnect"]) {
      worker.once(gone, () => {
        this.#open.delete(worker);
        for (const handle of handedOver.values()) handle.close(); // (1)
        handedOver.clear();
      });
    }
  }
}
