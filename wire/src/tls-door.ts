import type { Server } from "node:http";
import type { Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { refuseNonsense } from "./refuse-nonsense.ts";

/** What a listener shows for itself, as PEM texts: its certificate with those between it and its authority, and its key. */
export interface TlsPair {
  cert: string;
  key: string;
}

/** How long a caller may take until its connection is encrypted, in milliseconds. */
const HANDSHAKE_MS = 10_000;
/** The first byte of every TLS connection. */
const TLS_HANDSHAKE = 0x16;

/**
 * Puts TLS before an HTTP server that goes on to listen, to count its connections and to end them itself: it only gets
 * to read what is encrypted on the wire. TLS 1.2 at least, and HTTP/1.1 inside. Whoever speaks plain HTTP is told so.
 */
export class TlsDoor {
  readonly #secure: ReturnType<typeof createServer>;
  readonly #handshakeMs: number;
  /** Connections that are not encrypted yet. */
  readonly #arriving = new Set<Socket>();

  constructor(server: Server, pair: TlsPair, handshakeMs: number = HANDSHAKE_MS) {
    this.#handshakeMs = handshakeMs;
    this.#secure = createServer({
      ...pair,
      minVersion: "TLSv1.2",
      ALPNProtocols: ["http/1.1"],
      handshakeTimeout: handshakeMs,
    });
    // What node's server does with a connection. It is to meet the encrypted ones alone.
    const serve = server.listeners("connection") as ((socket: Socket) => void)[];
    server.removeAllListeners("connection");
    server.on("connection", (raw: Socket) => this.#meet(raw));
    this.#secure.on("secureConnection", (socket: TLSSocket) => {
      socket.allowHalfOpen = true;
      for (const listener of serve) listener.call(server, socket);
    });
    // Scanners make many of these: they are not worth a line.
    this.#secure.on("tlsClientError", (_error, socket) => socket.destroy());
  }

  /** From now on new connections are shown this one. Throws when it cannot be used; then the old one stays. */
  renew(pair: TlsPair): void {
    this.#secure.setSecureContext({ ...pair, minVersion: "TLSv1.2" });
  }

  /** Ends what is not encrypted yet, of which the HTTP server does not know. */
  closeArriving(): void {
    for (const socket of this.#arriving) socket.destroy();
  }

  #meet(raw: Socket): void {
    this.#arriving.add(raw);
    raw.once("close", () => this.#arriving.delete(raw));
    raw.on("error", () => raw.destroy());
    raw.setTimeout(this.#handshakeMs, () => raw.destroy());
    raw.once("end", () => raw.destroy());
    raw.once("data", (first: Buffer) => {
      raw.pause();
      if (first[0] !== TLS_HANDSHAKE) {
        raw.on("data", () => {}).resume();
        refuseNonsense(Object.assign(new Error("plain"), { code: "FARMGATE_NO_TLS" }), raw);
        return;
      }
      raw.setTimeout(0).removeAllListeners("timeout").removeAllListeners("end");
      raw.unshift(first);
      // Whoever ends its half before it is encrypted has left.
      raw.allowHalfOpen = false;
      this.#secure.emit("connection", raw);
    });
  }
}
