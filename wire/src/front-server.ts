import { type IncomingMessage, Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Clock, originForm } from "@farmgate/shared";
import { CallerSocket } from "./caller-socket.ts";
import { ConnectionLimit, isBeyondLimit } from "./connection-limit.ts";
import { Incoming } from "./incoming.ts";
import { refuseNonsense } from "./refuse-nonsense.ts";
import { refuseShape, shapeFault } from "./refuse-shape.ts";
import { StalledCallers } from "./stalled-callers.ts";
import { TlsDoor, type TlsPair } from "./tls-door.ts";
import { UntilClosed } from "./until-closed.ts";

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
  // Whatever Node was started with: what proxies may read differently is no request.
  insecureHTTPParser: false,
  // Ours says what is missing.
  requireHostHeader: false,
};

/**
 * Connections that may wait until they are taken. With Node's own 511 a crowd that comes while much else is to be done
 * would be ignored in part, and try again only after a second, three, seven. The system may allow less.
 */
const BACKLOG = 4_096;

/** How long callers may take at the end to read, or still to send, in milliseconds. */
const LAST_MS = 1_000;

export interface FrontLimits {
  /** Bytes. A caller who asks first (`Expect: 100-continue`) is not asked to send more. */
  body: () => number;
  /** Bytes. */
  headers: number;
  /** Open connections, but for a few in reserve; `Infinity`: none. */
  connections: () => number;
  /** Milliseconds in which a caller may stand still while it sends or reads. */
  stallMs: () => number;
  /** Connections come from another process, which would offer again and again those that Node drops here. */
  handedOver?: boolean;
}

/** The HTTP server of a program: its settings, its refusals of what is no HTTP, and its end. */
export class FrontServer extends Server {
  /**
   * The open answers on each connection; none: it waits for its next request. It changes with the connections alone:
   * what a Map or Set lets go with every answer, the collector would keep for long.
   */
  readonly #answers = new Map<Socket, ServerResponse[]>();
  /** Connections that have asked nothing yet, with when they came. */
  readonly #silent = new Map<Socket, number>();
  readonly #clock: Clock;
  /** Connections with an open answer. */
  #busy = 0;
  /** Open answers on all of them. */
  #open = 0;
  readonly #webSockets = new Set<Socket>();
  /** Connections on which nothing more is taken. */
  readonly #refused = new WeakSet<Socket>();
  /** Looked at whenever an answer or a connection has closed. */
  readonly #waits = new UntilClosed();
  /** Connections that wait for a request may still make one. */
  #takesLast = false;
  /** null: callers speak plain HTTP. */
  readonly #tls: TlsDoor | null;

  /** An expectation other than `100-continue` means nothing here and is no reason to refuse. `tls`: HTTPS alone. */
  constructor(limits: FrontLimits, clock: Clock, tls: TlsPair | null = null) {
    super({ ...SETTINGS, maxHeaderSize: limits.headers, IncomingMessage: Incoming });
    // Node drops those beyond without a word; here they are counted and refused.
    this.maxHeadersCount = 0;
    this.#clock = clock;
    const open = { answers: this.#answers, silent: this.#silent, busy: () => this.#busy };
    const connections = new ConnectionLimit(this, open, clock, limits);
    const stalled = new StalledCallers(this.#answers, clock, limits.stallMs);
    this.on("request", (request, response) => {
      request.url = originForm(request.url ?? "/");
      this.#track(request.socket, response);
    });
    this.on("connection", (socket) => {
      // Each request of a pipeline listens to the connection until its answer has ended.
      socket.setMaxListeners(0);
      this.#meet(socket);
      connections.entered(socket);
      stalled.watch();
    });
    this.on("checkExpectation", (request, response) => void this.emit("request", request, response));
    this.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
      if (Number(request.headers["content-length"] ?? 0) <= limits.body()) askForBody(response);
      this.emit("request", request, response);
    });
    this.on("clientError", (error, socket: Socket) => {
      // It has its answer, and what came behind it makes no sense any more.
      if (this.#refused.has(socket)) socket.destroySoon();
      else refuseNonsense(error, socket);
    });
    // It takes what listens to connections so far with it.
    this.#tls = tls === null ? null : new TlsDoor(this, tls);
  }

  /** From now on new connections are shown this certificate. Throws when it cannot be used; then the old one stays. */
  renew(pair: TlsPair): void {
    this.#tls?.renew(pair);
  }

  /** Hands on every request but those that could be read in two ways, which are refused and end their connection. */
  onRequest(handler: (request: IncomingMessage, response: ServerResponse) => void): this {
    return this.on("request", (request, response) => {
      if (!this.#refuses(request, response)) handler(request, response);
    });
  }

  #refuses(request: IncomingMessage, response: ServerResponse): boolean {
    // What was parsed together with it is not taken either.
    if (this.#refused.has(request.socket)) return true;
    const fault = shapeFault(request);
    if (fault === null) return false;
    this.#refused.add(request.socket);
    refuseShape(response, fault);
    return true;
  }

  /** Hands on what callers want to turn into a WebSocket; without this they are requests like any other. */
  onWebSocket(handler: (caller: CallerSocket) => void): void {
    this.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
      // Behind a request that has not been answered yet there is no place for an answer to this one.
      if ((this.#answers.get(socket) ?? []).length > 0) {
        socket.destroy();
        return;
      }
      request.url = originForm(request.url ?? "/");
      const caller = new CallerSocket(request, socket, head);
      this.#track(socket, caller.response);
      this.#webSockets.add(socket);
      socket.once("close", () => this.#webSockets.delete(socket));
      if (!this.#refuses(request, caller.response)) handler(caller);
    });
  }

  /** Node forgets a connection that it has handed over. */
  override closeAllConnections(): void {
    super.closeAllConnections();
    this.#tls?.closeArriving();
    for (const socket of this.#webSockets) socket.destroy();
  }

  /** Listens; port 0 takes a free one. Rejects with the system's error when the address cannot be had. */
  async listenOn(at: { host: string; port: number }): Promise<{ url: string; port: number }> {
    await new Promise<void>((resolve, reject) => {
      this.once("error", reject);
      this.listen({ host: at.host.replace(/^\[(.*)\]$/, "$1"), port: at.port, backlog: BACKLOG }, () => {
        this.removeListener("error", reject);
        resolve();
      });
    });
    const { address, family, port } = this.address() as AddressInfo;
    const scheme = this.#tls === null ? "http" : "https";
    return { url: `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`, port };
  }

  /** No new connections; those that are open end with their answers, and are told so where the head is still to come. */
  override close(done?: (error?: Error) => void): this {
    this.#takesLast = false;
    return this.#shut(done);
  }

  /**
   * As `close`, where another server takes the new connections of the same address: each open one may make one more
   * request, which may be on its way by now. Who has made none is closed after `ms` milliseconds; resolves then, or as
   * soon as there is nobody of that kind.
   */
  async leave(ms: number, clock: Clock): Promise<void> {
    this.#takesLast = true;
    this.#shut();
    await this.#waits.until(() => this.#answers.size === this.#busy, ms, clock);
    for (const [socket, open] of this.#answers) if (open.length === 0) socket.destroy();
  }

  #shut(done?: (error?: Error) => void): this {
    for (const open of this.#answers.values()) for (const response of open) tellLast(response);
    return super.close(done);
  }

  /**
   * Also called by `close`. The server's own one takes a connection for idle whose answer is complete but not yet on
   * its way, and would cut it off there.
   */
  override closeIdleConnections(): void {
    if (this.#takesLast) return;
    for (const [socket, open] of this.#answers) {
      if (open.length === 0 && !this.#silent.has(socket)) socket.destroy();
    }
  }

  /**
   * After `close`: lets callers read what was answered, for `ms` milliseconds, and finish what they still send, for one
   * second; then cuts what is left.
   */
  async end(ms: number, clock: Clock): Promise<void> {
    await this.#waits.until(() => this.#open === 0, LAST_MS, clock);
    const answered = () => [...this.#answers.values()].flat().filter((response) => response.writableEnded);
    await this.#waits.until(() => answered().length === 0, ms - LAST_MS, clock);
    this.closeAllConnections();
  }

  #track(socket: Socket, response: ServerResponse): void {
    const open = this.#answers.get(socket) ?? this.#meet(socket);
    this.#silent.delete(socket);
    if (isBeyondLimit(socket)) response.shouldKeepAlive = false;
    if (open.length === 0) this.#busy += 1;
    open.push(response);
    if (!this.listening) tellLast(response);
    this.#open += 1;
    response.on("close", () => {
      const at = open.indexOf(response);
      // Told twice, where it was told by `closeUnsent` before.
      if (at < 0) return;
      open.splice(at, 1);
      this.#open -= 1;
      if (open.length === 0) this.#busy -= 1;
      if (open.length === 0 && !this.listening) socket.destroySoon();
      this.#waits.look();
    });
  }

  #meet(socket: Socket): ServerResponse[] {
    const open: ServerResponse[] = [];
    this.#answers.set(socket, open);
    this.#silent.set(socket, this.#clock.now());
    socket.once("close", () => {
      this.#silent.delete(socket);
      queueMicrotask(() => {
        closeUnsent(open);
        this.#answers.delete(socket);
        this.#waits.look();
      });
    });
    return open;
  }
}

/** Behind an answer that is still open it waits for its turn: node would write it into the midst of this one's own. */
function askForBody(response: ServerResponse): void {
  const ask = () => {
    if (!response.headersSent) response.writeContinue();
  };
  if (response.socket === null) response.once("socket", ask);
  else ask();
}

/** The caller is told to send its next request on another connection. */
function tellLast(response: ServerResponse): void {
  if (!response.headersSent) response.shouldKeepAlive = false;
}

/**
 * The answers to a pipeline go out one after the other. Of those whose turn had not come when the connection closed,
 * node tells nobody, and what is under way for them would go on.
 */
function closeUnsent(open: readonly ServerResponse[]): void {
  for (const response of open.slice()) {
    response.destroy();
    if (!response.closed) response.emit("close");
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
  socket.on("end", half);
  response.on("close", () => {
    socket.removeListener("end", half);
    if (!response.writableFinished) left();
  });
}
