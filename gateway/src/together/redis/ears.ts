import type { ConnectionOptions } from "./connection.ts";
import type { Clock } from "@farmgate/shared";
import type { FarmKeys } from "./farm-keys.ts";
import { KeptConnection } from "./kept-connection.ts";

interface Events {
  message(channel: string, text: string): void;
  /** It hears from now on, and may have missed what was told before. */
  hears(): void;
  deaf(): void;
}

/** The connection over which a member hears the others. */
export class Ears {
  readonly #kept: KeptConnection;
  readonly #channels: readonly string[];
  readonly #events: Events;
  #hears = false;
  #asked = false;

  constructor(
    options: ConnectionOptions & { clock: Clock; stuckMs: number; id: string; keys: FarmKeys },
    events: Events,
  ) {
    this.#events = events;
    this.#channels = [options.keys.news, options.keys.answersTo(options.id)];
    this.#kept = new KeptConnection(options, { ready: () => this.#subscribe(), closed: () => this.#lost() });
    this.#kept.connection.on("message", (channel: string, text: string) => events.message(channel, text));
  }

  /** Why nothing is heard; null: it is. */
  get meaning(): string | null {
    return this.#hears ? null : this.#kept.meaning;
  }

  open(): void {
    this.#kept.open();
  }

  /** At each heartbeat: is somebody there? */
  look(): void {
    if (!this.#kept.isReady || this.#asked) return this.#kept.look();
    this.#asked = true;
    this.#kept.connection.ping().then(
      () => this.#answered(),
      () => (this.#asked = false),
    );
  }

  end(): void {
    this.#kept.end();
  }

  #answered(): void {
    this.#asked = false;
    this.#kept.answered();
    if (!this.#hears) this.#subscribe();
  }

  #subscribe(): void {
    this.#kept.connection.subscribe(...this.#channels).then(
      () => {
        this.#hears = true;
        this.#events.hears();
      },
      // Tried again with the next heartbeat.
      () => this.#lost(),
    );
  }

  #lost(): void {
    this.#hears = false;
    this.#asked = false;
    this.#events.deaf();
  }
}
