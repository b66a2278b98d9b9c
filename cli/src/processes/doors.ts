import type { Worker } from "node:cluster";
import type { ChildProcess } from "node:child_process";

/** A connection that was accepted, before it is anybody's. */
interface Handle {
  close(): void;
}

/**
 * Node's own messages: one hands a connection to a process, others tell what became of it, or of a door. `key`: of the
 * address at which it listens.
 */
interface HandOver {
  act?: string;
  key?: string;
  seq?: number;
  ack?: number;
  errno?: number | null;
  accepted?: boolean;
}

/** Those to whom Node hands what comes at one address, from the first that opens it until none is left. */
type Door = Set<Worker>;

interface HandedOver {
  handle: Handle;
  door: Door | undefined;
}

type Send = (message: HandOver, handle?: Handle, ...rest: unknown[]) => boolean;

/**
 * Closes the connections of a gateway's port that no process will ever take, so that their callers need not wait for
 * ever: Node keeps them open and never looks at them again. Where Node speaks otherwise with its processes, this does
 * nothing.
 *
 * 1. A process died with what it had been handed and had not taken.
 * 2. A process closed its door before it heard of one. Node keeps it for the next at that door, and by then none is left:
 *    who opens the same address later has a new one.
 */
export class Doors {
  /** By their addresses. */
  readonly #doors = new Map<string, Door>();

  watch(worker: Worker): void {
    const { process } = worker as { process: ChildProcess };
    const handedOver = new Map<number, HandedOver>();
    const send = process.send.bind(process) as unknown as Send;
    const noted: Send = (message, handle, ...rest) => {
      const { act, key, seq, ack, errno } = message;
      // The answer to who wants to listen. The next that Node sends may be a connection, long before it says it listens.
      if (key !== undefined && ack !== undefined && !errno) this.#enter(key, worker);
      if (act === "newconn" && key !== undefined && seq !== undefined && handle) {
        handedOver.set(seq, { handle, door: this.#doors.get(key) });
      }
      return send(message, handle, ...rest);
    };
    process.send = noted as unknown as ChildProcess["send"];
    // Node has heard it before: a connection that was not taken is at the next process by now, or kept for one.
    process.on("internalMessage", ({ act, key, ack, accepted }: HandOver) => {
      if (act === "close" && key !== undefined) this.#leave(key, worker);
      if (ack === undefined) return;
      const { handle, door } = handedOver.get(ack) ?? {};
      if (accepted === false && door?.size === 0) handle?.close(); // (2)
      handedOver.delete(ack);
    });
    // Between the two, whichever comes first, Node may hand it one more.
    for (const gone of ["exit", "disconnect"]) {
      worker.once(gone, () => {
        for (const { handle } of handedOver.values()) handle.close(); // (1)
        handedOver.clear();
      });
    }
    worker.once("disconnect", () => {
      for (const key of this.#doors.keys()) this.#leave(key, worker);
    });
  }

  #enter(key: string, worker: Worker): void {
    const door = this.#doors.get(key);
    if (door === undefined) this.#doors.set(key, new Set([worker]));
    else door.add(worker);
  }

  #leave(key: string, worker: Worker): void {
    const door = this.#doors.get(key);
    door?.delete(worker);
    if (door?.size === 0) this.#doors.delete(key);
  }
}
