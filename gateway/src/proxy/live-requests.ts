import type { Api, FarmError } from "@farmgate/shared";

/** What `/farm/requests` tells of a request under way. */
export interface LiveRequest {
  readonly id: string;
  readonly api: Api;
  /** The key's name; empty without keys. */
  readonly callerName: string;
  /** Milliseconds since the Unix epoch, for people. */
  readonly since: number;
  /** The catalogue name, or what the caller typed until that is known. */
  readonly model: string;
  readonly worker: string | null;
  readonly phase: RequestPhase;
  /** When the worker last sent something, on the clock of `now`; null: nothing yet. */
  readonly lastByteAt: number | null;
  /** Ends it; its caller is told why. */
  cancel(reason: FarmError): void;
}

/** joined: it waits for others like it, or is part of a joint request, which is told beside it. */
export type RequestPhase = "receiving" | "waiting" | "joined" | "asking" | "answering";

/** Every inference request under way, by its id. */
export class LiveRequests<R extends LiveRequest = LiveRequest> {
  readonly #byId = new Map<string, R>();
  readonly #whenIdle: (() => void)[] = [];

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  get(id: string): R | undefined {
    return this.#byId.get(id);
  }

  all(): readonly R[] {
    return [...this.#byId.values()];
  }

  /** Whether a request under way got bytes from the worker at or after `since`. */
  flowing(worker: string, since: number): boolean {
    for (const request of this.#byId.values()) {
      if (request.worker === worker && request.lastByteAt !== null && request.lastByteAt >= since) return true;
    }
    return false;
  }

  enter(request: R): void {
    this.#byId.set(request.id, request);
  }

  leave(request: R): void {
    this.#byId.delete(request.id);
    if (this.#byId.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    if (this.#byId.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }
}
