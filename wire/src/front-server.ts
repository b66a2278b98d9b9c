import { type IncomingMessage, Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Clock } from "@farmgate/shared";

/** Idle connections of callers are kept longer than any usual proxy in front keeps its own to us; in milliseconds. */
const KEEP_ALIVE_MS = 75_000;

const SETTINGS = {
  keepAliveTimeout: KEEP_ALIVE_MS,
  headersTimeout: KEEP_ALIVE_MS + 15_000,
  // An upload of a large prompt over a slow line may take its time; the body limit bounds it.
  requestTimeout: 0,
  noDelay: true,
  // A caller whose machine went away without a word gives up its place some time.
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
  // One number for both programs, or an agent would refuse what its gateway let through.
  maxHeaderSize: 32 * 1_024,
};

/** How long callers may take at the end to read, or still to send, in milliseconds. */
const LAST_MS = 1_000;

/** The HTTP server of a program: its settings, its refusals of what is no HTTP, and its end. */
export class FrontServer extends Server {
  readonly #open = new Set<ServerResponse>();
  /** How many answers are open on each connection that has any. */
  readonly #busy = new Map<Socket, number>();
  /** Connections that wait for their next request. */
  readonly #idle = new Set<Socket>();
  #onClosed: () => void = () => {};

  /** `bodyLimit` in bytes: a caller who asks first (`Expect: 100-continue`) is not asked to send more. */
  constructor(bodyLimit: () => number) {
    super(SETTINGS);
    this.on("request", (request, response) => this.#track(request.socket, response));
    this.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
      if (Number(request.headers["content-length"] ?? 0) <= bodyLimit()) response.writeContinue();
      this.emit("request", request, response);
    });
    this.on("clientError", refuseNonsense);
  }

  /** Listens; port 0 takes a free one. Rejects with the system's error when the address cannot be had. */
  async listenOn(at: { host: string; port: number }): Promise<{ url: string; port: number }> {
    await new Promise<void>((resolve, reject) => {
      this.once("error", reject);
      this.listen({ host: at.host.replace(/^\[(.*)\]$/, "$1"), port: at.port }, () => {
        this.removeListener("error", reject);
        resolve();
      });
    });
    const { address, family, port } = this.address() as AddressInfo;
    return { url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`, port };
  }

  /**
   * Also called by `close`. The server's own one takes a connection for idle whose answer is complete but not yet on
   * its way, and would cut it off there.
   */
  override closeIdleConnections(): void {
    for (const socket of this.#idle) socket.destroy();
  }

  /**
   * After `close`: lets callers read what was answered, for `ms` milliseconds, and finish what they still send, for one
   * second; then cuts what is left.
   */
  async end(ms: number, clock: Clock): Promise<void> {
    await this.#until(() => this.#open.size === 0, LAST_MS, clock);
    await this.#until(() => ![...this.#open].some((response) => response.writableEnded), ms - LAST_MS, clock);
    this.closeAllConnections();
  }

  /** Looks again whenever an answer has closed, for `ms` milliseconds at most. */
  async #until(holds: () => boolean, ms: number, clock: Clock): Promise<void> {
    if (ms <= 0 || holds()) return;
    await new Promise<void>((resolve) => {
      const stopTimer = clock.after(ms, resolve);
      this.#onClosed = () => {
        if (!holds()) return;
        stopTimer();
        resolve();
      };
    });
    this.#onClosed = () => {};
  }

  #track(socket: Socket, response: ServerResponse): void {
    const open = this.#busy.get(socket) ?? 0;
    if (open === 0 && !this.#idle.delete(socket)) socket.once("close", () => this.#idle.delete(socket));
    this.#busy.set(socket, open + 1);
    this.#open.add(response);
    response.once("close", () => {
      this.#open.delete(response);
      const left = (this.#busy.get(socket) ?? 1) - 1;
      if (left > 0) {
        this.#busy.set(socket, left);
      } else {
        this.#busy.delete(socket);
        if (!this.listening) socket.destroySoon();
        else if (!socket.destroyed) this.#idle.add(socket);
      }
      this.#onClosed();
    });
  }
}

/** Calls `left` when the caller closes its connection, or only its own half of it, before its answer has ended. */
export function onCallerLeft(request: IncomingMessage, response: ServerResponse, left: () => void): void {
  const { socket } = request;
  const half = () => {
    left();
    // Else the connection would stay until a caller who has left has read what is under way to it.
    response.destroy();
  };
  socket.once("end", half);
  response.once("close", () => {
    socket.removeListener("end", half);
    if (!response.writableFinished) left();
  });
}

/** Bytes that are no HTTP, or headers over the limit. */
function refuseNonsense(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
  const message = "The request is not valid HTTP, or its headers are too large.";
  const body = JSON.stringify({
    error: { message, type: "invalid_request_error", param: null, code: "invalid_request" },
  });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
  );
}
