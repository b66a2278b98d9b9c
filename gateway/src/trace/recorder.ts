import { apiForm, type Clock, isoTime, nameKey } from "@farmgate/shared";
import { wishesOf } from "@farmgate/wire";
import type { Catalog } from "../catalog/types.ts";
import type { Served } from "../proxy/accounts.ts";
import type { Call } from "../proxy/call.ts";
import { isDryRun } from "../proxy/dry-run.ts";
import { Recording, type SeenRequest, type Sink } from "./recording.ts";

/** Milliseconds between signs of life. */
const ALIVE_MS = 20_000;
/** Recordings at once: each of them costs something with every request, and memory while its reader is slow. */
const MOST_OPEN = 16;

export interface RecorderDeps {
  clock: Clock;
  catalog: () => Catalog;
}

/** The recordings under way. While there are none, a request costs one look at that. */
export class Recorder {
  readonly #deps: RecorderDeps;
  readonly #open = new Set<Recording>();
  #stopTimer: (() => void) | null = null;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
  }

  /** There is no room for another one. */
  get isFull(): boolean {
    return this.#open.size >= MOST_OPEN;
  }

  /** Begins one; what is returned ends it without a word, where its reader has left. */
  open(sink: Sink): () => void {
    const { clock } = this.#deps;
    const recording = new Recording(sink, clock.now(), isoTime(clock.wall()));
    this.#open.add(recording);
    this.#stopTimer ??= this.#keepAlive();
    return () => {
      this.#open.delete(recording);
      if (this.#open.size === 0) this.#rest();
    };
  }

  /** Once for each request, after its end. */
  ended(call: Call, served: Served): void {
    if (this.#open.size === 0) return;
    const seen = this.#seen(call, served);
    if (seen !== null) for (const recording of this.#open) recording.ended(seen);
  }

  /** Ends them all. */
  close(): void {
    for (const recording of this.#open) recording.end();
    this.#open.clear();
    this.#rest();
  }

  /** null: it is no work that another farm would have had, or there is no telling how much. */
  #seen(call: Call, { status: passed, error }: Served): SeenRequest | null {
    const { clock, catalog } = this.#deps;
    const status = error?.status ?? passed ?? 500;
    const model = catalog().union.get(nameKey(call.model))?.id;
    if (model === undefined || call.socket !== null || isDryRun(call) || isCallersFault(status)) return null;
    const usage = passed === 200 ? call.tap.usage() : null;
    const { priority, deadlineMs } = wishesOf(call.request.headers);
    return {
      arrivedAt: call.arrivedAt,
      firstByteAt: call.firstByteAt,
      endedAt: clock.now(),
      model,
      callerName: call.callerName,
      api: call.api,
      usage,
      bytes: call.sent?.bytes ?? Number(call.request.headers["content-length"] ?? 0),
      events: call.tap.streamed && apiForm(call.api).streams !== null ? call.tap.events() : null,
      priority,
      deadlineMs,
      status,
    };
  }

  #keepAlive(): () => void {
    return this.#deps.clock.after(ALIVE_MS, () => {
      for (const recording of this.#open) recording.stayAlive();
      this.#stopTimer = this.#keepAlive();
    });
  }

  #rest(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
  }
}

/** What is wrong with a request is wrong with any farm; one that was too many, or was left by its caller, was work. */
function isCallersFault(status: number): boolean {
  if (status === 501) return true;
  return status >= 400 && status < 500 && status !== 429 && status !== 499;
}
