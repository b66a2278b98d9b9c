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

/** A form goes to the path that takes forms, with the boundary that it begins with. */
export function requestOf(body: string): Buffer {
  const boundary = /^--(\S+)\r\n/.exec(body)?.[1];
  const [path, type] =
    boundary === undefined
      ? ["/v1/chat/completions", "application/json"]
      : ["/v1/audio/transcriptions", `multipart/form-data; boundary=${boundary}`];
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: bench\r\naccept: */*\r\n` +
      `content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
