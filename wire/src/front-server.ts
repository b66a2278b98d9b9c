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

/** The HTTP server of a program: its settings, its refusals of what is no HTTP, and its end. */
export class FrontServer extends Server {
  /** Connections with answers under way, and how many. */
  readonly #busy = new Map<Socket, number>();
  /** Connections that wait for their next request. */
  readonly #idle = new Set<Socket>();
  #whenNoneBusy: (() => void)[] = [];

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

  /** After `close`: lets callers read what was answered, for `ms` milliseconds at most, and cuts what is left then. */
  async end(ms: number, clock: Clock): Promise<void> {
    await new Promise<void>((resolve) => {
      if (this.#busy.size === 0) {
        resolve();
        return;
      }
      const stopTimer = clock.after(ms, resolve);
      this.#whenNoneBusy.push(() => {
        stopTimer();
        resolve();
      });
    });
    this.closeAllConnections();
  }

  #track(socket: Socket, response: ServerResponse): void {
    if (!this.#busy.has(socket) && !this.#idle.delete(socket)) {
      socket.once("close", () => this.#idle.delete(socket));
    }
    this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1);
    response.once("close", () => {
      const left = (this.#busy.get(socket) ?? 1) - 1;
      if (left > 0) {
        this.#busy.set(socket, left);
        return;
      }
      this.#busy.delete(socket);
      if (!this.listening) socket.destroySoon();
      else if (!socket.destroyed) this.#idle.add(socket);
      if (this.#busy.size > 0) return;
      for (const tell of this.#whenNoneBusy.splice(0)) tell();
    });
  }
}

/** Calls `left` once when the caller closes its connection before its answer has ended, or only its own half of it. */
export function onCallerLeft(request: IncomingMessage, response: ServerResponse, left: () => void): void {
  const { socket } = request;
  socket.once("end", left);
  response.once("close", () => {
    socket.removeListener("end", left);
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
