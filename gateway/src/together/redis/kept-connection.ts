import type { Clock } from "@farmgate/shared";
import { type Connection, type ConnectionOptions, createConnection } from "./connection.ts";
import { isOfNoDatabase, meaningOf } from "./words.ts";

interface Events {
  ready(): void;
  closed(): void;
}

/** A connection that is given up and made anew where it is stuck: a host that vanished closes nothing. */
export class KeptConnection {
  readonly connection: Connection;
  readonly #clock: Clock;
  readonly #stuckMs: number;
  #error: unknown = null;
  /** When it began to connect, or answered last. */
  #aliveAt = 0;
  /** The server refused the database of the address: what is sent would go to another one. */
  #isElsewhere = false;

  constructor(options: ConnectionOptions & { clock: Clock; stuckMs: number }, events: Events) {
    this.#clock = options.clock;
    this.#stuckMs = options.stuckMs;
    this.connection = createConnection(options);
    this.connection.on("error", (error: Error) => {
      this.#error = error;
      this.#isElsewhere ||= isOfNoDatabase(error);
    });
    this.connection.on("ready", () => {
      this.answered();
      events.ready();
    });
    this.connection.on("close", () => {
      this.#isElsewhere = false;
      this.answered();
      events.closed();
    });
  }

  get isReady(): boolean {
    return this.connection.status === "ready" && !this.#isElsewhere;
  }

  /** Why it is not ready, as far as it is known. */
  get meaning(): string {
    return meaningOf(this.#error ?? {});
  }

  open(): void {
    this.answered();
    // It goes on trying by itself; what was wrong comes as an event.
    this.connection.connect().catch(() => {});
  }

  /** Something came over it. */
  answered(): void {
    this.#aliveAt = this.#clock.now();
    if (this.isReady) this.#error = null;
  }

  /** For whoever waits for something: makes it anew when nothing has come for too long. */
  look(): void {
    if (this.#clock.now() - this.#aliveAt > this.#stuckMs) this.again();
  }

  again(): void {
    this.#aliveAt = this.#clock.now();
    this.connection.disconnect(true);
  }

  end(): void {
    this.connection.disconnect();
  }
}
