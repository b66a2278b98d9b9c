import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "@farmgate/shared";

/** sending: no more of the request comes; reading: nothing of the answer is taken. */
export type Stall = "sending" | "reading";

/** What a connection looked like when it was first seen to keep us waiting. */
interface Look {
  stall: Stall;
  /** Bytes that have come, or went out, by then. */
  bytes: number;
  /** Milliseconds on the clock of `now`. */
  since: number;
  told: boolean;
}

const STALLED = "stalled";
/** Looks within the time that a caller has: one is cut off by a quarter of it later at most. */
const LOOKS = 4;

/**
 * Calls `tell` when the caller has sent nothing of its request, or has taken nothing of this answer, for too long. Who
 * does not read is cut off right after; who does not send is if it was not answered by the next look.
 */
export function onStalled(response: ServerResponse, tell: (stall: Stall) => void): void {
  response.on(STALLED, tell);
}

/**
 * Ends connections whose callers stand still. It looks at all of them now and then, so that no request has a timer of
 * its own for it, and no piece of an answer costs anything.
 */
export class StalledCallers {
  readonly #answers: ReadonlyMap<Socket, readonly ServerResponse[]>;
  readonly #clock: Clock;
  readonly #limitMs: () => number;
  #looks: ReadonlyMap<Socket, Look> = new Map();
  #isArmed = false;

  /** `answers`: the open ones of each connection, oldest first. */
  constructor(answers: ReadonlyMap<Socket, readonly ServerResponse[]>, clock: Clock, limitMs: () => number) {
    this.#answers = answers;
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  /** To be called when a connection comes; looks as long as there are any. */
  watch(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#clock.after(this.#limitMs() / LOOKS, () => {
      this.#isArmed = false;
      this.#look();
      if (this.#answers.size > 0) this.watch();
    });
  }

  #look(): void {
    const now = this.#clock.now();
    const looks = new Map<Socket, Look>();
    for (const [socket, open] of this.#answers) {
      const stall = stallOf(socket, open);
      if (stall === null) continue;
      const bytes = stall === "sending" ? socket.bytesRead : bytesOut(socket);
      const before = this.#looks.get(socket);
      const stands = before !== undefined && before.stall === stall && before.bytes === bytes;
      const look = stands ? before : { stall, bytes, since: now, told: false };
      looks.set(socket, look);
      if (now - look.since >= this.#limitMs()) end(socket, open, look);
    }
    this.#looks = looks;
  }
}

function end(socket: Socket, open: readonly ServerResponse[], look: Look): void {
  const answer = look.stall === "sending" ? open.at(-1) : open[0];
  const isHeard = !look.told && answer?.emit(STALLED, look.stall) === true;
  look.told = true;
  if (look.stall === "reading" || !isHeard) socket.destroy();
}

/** Node's own count of what the system has not taken yet; its own time-outs read it for the same reason. */
type WithHandle = Socket & { _handle?: { writeQueueSize?: number } | null };

/** Changes with each byte that goes out, also in the middle of one large piece. */
function bytesOut(socket: WithHandle): number {
  return socket.bytesWritten - socket.writableLength - (socket["_handle"]?.writeQueueSize ?? 0);
}

function stallOf(socket: Socket, open: readonly ServerResponse[]): Stall | null {
  if (open.length === 0) return null;
  if (socket.writableLength > 0) return "reading";
  // Only the last of a pipeline can still be on its way.
  return open.at(-1)?.req.complete === false ? "sending" : null;
}
