import { WebSocket } from "undici";
import { until } from "./until.ts";

/** A session of `/v1/realtime` as a client sees it. */
export class RealtimeClient {
  readonly #socket: WebSocket;
  /** Texts that came, oldest first; what is binary as its hex digits. */
  readonly messages: string[] = [];
  /** Resolves with the close code; 1006: the connection broke, or never was. */
  readonly closed: Promise<number>;

  constructor(url: string, options: { protocols?: string[]; headers?: Record<string, string> } = {}) {
    this.#socket = new WebSocket(url.replace(/^http/, "ws"), options);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.addEventListener("message", ({ data }) => {
      this.messages.push(typeof data === "string" ? data : Buffer.from(data as ArrayBuffer).toString("hex"));
    });
    this.#socket.addEventListener("error", () => {});
    this.closed = new Promise((resolve) => this.#socket.addEventListener("close", ({ code }) => resolve(code)));
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  /** Resolves once the session is there. */
  async opened(): Promise<this> {
    await this.got((text) => text.includes("session.created"), "the session is there");
    return this;
  }

  send(text: string | Uint8Array<ArrayBuffer>): void {
    this.#socket.send(text);
  }

  close(): void {
    this.#socket.close();
  }

  async got(holds: (text: string) => boolean, what: string): Promise<void> {
    await until(() => Promise.resolve(this.messages.some(holds)), what);
  }
}
