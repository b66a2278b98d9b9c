// One keep-alive connection of the load client: a request at a time, written
// as bytes that were made once.
import { connect } from "node:net";
import type { Socket } from "node:net";
import { ResponseReader } from "./response-reader.ts";

export interface ConnectionEvents {
  onEvents?(events: number): void;
  onEnd?(): void;
  /** An answer other than 200, or the connection broke. */
  onFailure(): void;
}

export class Connection {
  readonly #socket: Socket;
  #broken = false;

  constructor(port: number, events: ConnectionEvents) {
    const reader = new ResponseReader({
      onHead: (status) => status === 200 || events.onFailure(),
      onEvents: (count) => events.onEvents?.(count),
      onEnd: () => events.onEnd?.(),
    });
    const fail = () => {
      if (!this.#broken) events.onFailure();
      this.#broken = true;
    };
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket.on("data", (bytes) => reader.push(bytes));
    this.#socket.on("error", fail);
    this.#socket.on("close", fail);
  }

  get broken(): boolean {
    return this.#broken;
  }

  send(request: Buffer): void {
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.removeAllListeners("close");
    this.#socket.destroy();
  }
}

export function chatRequest(body: string): Buffer {
  return Buffer.from(
    "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: bench\r\naccept: */*\r\n" +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
