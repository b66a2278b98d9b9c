import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "@farmgate/shared";

/** So many more are let in than the limit says, each for one answer: operators and monitors must get through. */
const RESERVE = 64;
/** Share of the limit that is made free at once, so that not each newcomer looks through all. */
const ROOM = 1 / 64;
/** Who has not asked within this time has its place for nothing; in milliseconds. */
const SILENT_MS = 5_000;

const beyond = new WeakSet<Socket>();

/** Whether the connection came when there were too many: it may ask how the program is, and not for its work. */
export function isBeyondLimit(socket: Socket): boolean {
  return beyond.has(socket);
}

interface Limits {
  /** Read anew for each connection; `Infinity`: none. */
  connections: () => number;
  /** They come from another process, which would offer again and again those that Node drops here. */
  handedOver?: boolean;
}

/** The connections of a server, the oldest first. */
export interface Connections {
  /** The open answers of each. */
  answers: ReadonlyMap<Socket, readonly ServerResponse[]>;
  /** Those that have asked nothing yet, with when they came. */
  silent: ReadonlyMap<Socket, number>;
  /** How many have an open answer. */
  busy: () => number;
}

/**
 * Keeps a server's connections within a limit. One too many takes the place of another on which nothing is under way:
 * 1. of the oldest that waits for its next request;
 * 2. of the oldest that has not asked for a while.
 * 3. Where all are at work, it is one of the reserve.
 * 4. What comes beyond that is closed as it comes, which costs next to nothing; those after it get in all the same, in
 *    the place of others as in (1) and (2), or a crowd that never asks would keep the door shut for all.
 */
export class ConnectionLimit {
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #clock: Clock;
  readonly #limit: () => number;
  /** Node closes those of (4) before they cost anything. */
  readonly #drops: boolean;
  /** Closed, and still among the others until the system has ended them: their places are free already. */
  #closing = 0;

  constructor(server: Server, connections: Connections, clock: Clock, limits: Limits) {
    this.#server = server;
    this.#connections = connections;
    this.#clock = clock;
    this.#limit = limits.connections;
    this.#drops = limits.handedOver !== true;
    this.#adjust();
    server.on("drop", () => void this.#free(RESERVE)); // (4)
  }

  /** A connection has come, and is among the others. */
  entered(socket: Socket): void {
    this.#adjust();
    const limit = this.#limit();
    const tooMany = this.#connections.answers.size - this.#closing - limit;
    if (tooMany <= 0) return;
    if (this.#free(tooMany)) return;
    if (tooMany <= RESERVE)
      beyond.add(socket); // (3)
    else this.#close(socket); // (4)
  }

  /** False: nobody could go. */
  #free(places: number): boolean {
    const wanted = places + Math.floor(this.#limit() * ROOM);
    return this.#closeWaiting(wanted) || this.#closeSilent(wanted); // (1), (2)
  }

  #adjust(): void {
    if (this.#drops) this.#server.maxConnections = this.#limit() + RESERVE; // (4)
  }

  #close(socket: Socket): void {
    this.#closing += 1;
    socket.once("close", () => (this.#closing -= 1));
    socket.destroy();
  }

  #closeWaiting(wanted: number): boolean {
    const { answers, silent, busy } = this.#connections;
    if (answers.size - silent.size - busy() <= 0) return false;
    let closed = 0;
    for (const [socket, open] of answers) {
      if (closed === wanted) break;
      if (open.length > 0 || silent.has(socket) || socket.destroyed) continue;
      this.#close(socket);
      closed += 1;
    }
    return closed > 0;
  }

  #closeSilent(wanted: number): boolean {
    let closed = 0;
    for (const [socket, since] of this.#connections.silent) {
      if (closed === wanted || this.#clock.now() - since < SILENT_MS) break;
      if (socket.destroyed) continue;
      this.#close(socket);
      closed += 1;
    }
    return closed > 0;
  }
}
