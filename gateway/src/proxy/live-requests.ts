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

/**
 * Where a request stands while it is under way, emptied when it leaves. A Map leaves its old tables behind as it
 * changes, and one of them in the collector's old space keeps all later ones, with what ever stood in them, until a
 * full collection: with the requests themselves that was a sixth of all memory that the gateway took.
 */
interface Place<R> {
  request: R | null;
}

/** Every inference request under way, by its id. */
export class LiveRequests<R extends LiveRequest = LiveRequest> {
  readonly #byId = new Map<string, Place<R>>();
  readonly #whenIdle: (() => void)[] = [];

  get size(): number {
    return this.#byId.size;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  get(id: string): R | undefined {
    return this.#byId.get(id)?.request ?? undefined;
  }

  all(): readonly R[] {
    return Array.from(this.#byId.values(), ({ request }) => request).filter((request) => request !== null);
  }

  /** Whether a request under way got bytes from the worker at or after `since`. */
  flowing(worker: string, since: number): boolean {
    for (const { request } of this.#byId.values()) {
      if (request?.worker === worker && request.lastByteAt !== null && request.lastByteAt >= since) return true;
    }
    return false;
  }

  enter(request: R): void {
    this.#byId.set(request.id, { request });
  }

  leave({ id }: R): void {
    const place = this.#byId.get(id);
    if (place !== undefined) place.request = null;
    this.#byId.delete(id);
    if (this.#byId.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    if (this.#byId.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }
}
