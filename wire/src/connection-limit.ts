import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** So many more are let in than the limit says, each for one answer: operators and monitors must get through. */
const RESERVE = 64;
/** Share of the limit that is made free at once, so that not each newcomer looks through all. */
const ROOM = 1 / 64;

const beyond = new WeakSet<Socket>();

/** Whether the connection came when there were too many: it may ask how the program is, and not for its work. */
export function isBeyondLimit(socket: Socket): boolean {
  return beyond.has(socket);
}

/**
 * Keeps a server's connections within a limit. One too many takes the place of the one that has been open for longest
 * among those on which nothing is under way. Where all are at work it is one of the reserve; beyond that the system's
 * queue is emptied into nothing, with Node's own `drop` told.
 */
export class ConnectionLimit {
  readonly #server: Server;
  /** The open answers of each connection, the oldest connection first. */
  readonly #answers: ReadonlyMap<Socket, readonly ServerResponse[]>;
  readonly #limit: () => number;

  /** `limit` is read anew for each connection; `Infinity`: none. */
  constructor(server: Server, answers: ReadonlyMap<Socket, readonly ServerResponse[]>, limit: () => number) {
    this.#server = server;
    this.#answers = answers;
    this.#limit = limit;
    this.#server.maxConnections = limit() + RESERVE;
  }

  /** A connection has come, and is among the others. `busy`: how many have an answer under way. */
  entered(socket: Socket, busy: number): void {
    const limit = this.#limit();
    this.#server.maxConnections = limit + RESERVE;
    const open = this.#answers.size;
    if (open <= limit) return;
    // The newcomer is idle too.
    const isFreed = open - busy > 1 && this.#closeIdle(open - limit + Math.floor(limit * ROOM), socket);
    if (!isFreed) beyond.add(socket);
  }

  #closeIdle(wanted: number, newcomer: Socket): boolean {
    let closed = 0;
    for (const [socket, open] of this.#answers) {
      if (closed === wanted) break;
      if (open.length > 0 || socket === newcomer || socket.destroyed) continue;
      socket.destroy();
      closed += 1;
    }
    return closed > 0;
  }
}
