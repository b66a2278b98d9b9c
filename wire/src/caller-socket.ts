import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** What a caller may send before it has its answer, in bytes; nothing more is read then. */
const MOST_EARLY = 64 * 1_024;

/**
 * A caller's connection that it asks to turn into a WebSocket. Until it is `switched`, an answer in HTTP can be given by
 * `response`, which ends it.
 */
export class CallerSocket {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly #socket: Socket;
  /** What came before the answer, which a caller should not, but may, send. */
  #early: Buffer[];
  #earlyBytes: number;
  #onLeft: () => void = () => {};

  constructor(request: IncomingMessage, socket: Socket, head: Buffer) {
    this.request = request;
    this.#socket = socket;
    this.#early = [head];
    this.#earlyBytes = head.length;
    this.response = new ServerResponse(request);
    this.response.shouldKeepAlive = false;
    this.response.assignSocket(socket);
    this.response.once("finish", () => socket.destroySoon());
    // Its end shows as `close`, which always follows.
    socket.on("error", () => {});
    // Without reading, nobody would see that the caller leaves.
    socket.on("data", this.#keep).once("end", this.#left).once("close", this.#left);
  }

  /** Calls `left` when the caller closes its connection, or its half of it, before it was switched. */
  onLeft(left: () => void): void {
    this.#onLeft = left;
  }

  /** Tells the caller that it has its WebSocket, by this flat head, and hands the bare connection over, paused. */
  switch(headers: readonly string[]): Socket {
    const socket = this.#socket;
    socket.off("data", this.#keep).off("end", this.#left).off("close", this.#left).pause();
    let head = "HTTP/1.1 101 Switching Protocols\r\n";
    for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
    socket.write(`${head}\r\n`, "latin1");
    for (const piece of this.#early.splice(0).toReversed()) if (piece.length > 0) socket.unshift(piece);
    return socket;
  }

  readonly #keep = (chunk: Buffer): void => {
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > MOST_EARLY) this.#socket.pause();
  };

  readonly #left = (): void => {
    this.#socket.off("end", this.#left).off("close", this.#left);
    if (this.response.headersSent) return;
    this.#onLeft();
    this.response.destroy();
  };
}
