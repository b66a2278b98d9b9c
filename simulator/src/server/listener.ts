import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { CallerSocket } from "@farmgate/wire";

/** A listening socket that can be taken away and put back on the same port. */
export class Listener {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #host: string;
  #port: number;

  constructor(host: string, port: number, answer: RequestListener, onSocket: (caller: CallerSocket) => void) {
    this.#host = host;
    this.#port = port;
    this.#server = createServer({ noDelay: true }, answer);
    this.#server.on("upgrade", (request, socket: Socket, head) => onSocket(new CallerSocket(request, socket, head)));
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  get port(): number {
    return this.#port;
  }

  /** Rejects when the port is taken. Port 0 takes a free one, the first time. */
  open(): Promise<void> {
    if (this.#server.listening) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#port, this.#host, () => {
        this.#server.off("error", reject);
        this.#port = (this.#server.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  /** Takes no new connection; resolves when the open ones have ended. */
  async drain(): Promise<void> {
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
    });
  }

  /** Takes no connection any more and breaks the open ones. */
  async cut(): Promise<void> {
    const closed = this.drain();
    for (const socket of this.#sockets) socket.resetAndDestroy();
    await closed;
  }
}
