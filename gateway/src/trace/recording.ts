import { type LostLine, movingMean, TRACE_VERSION, type TraceHead, type TraceLine } from "@farmgate/shared";
import { type SeenAnswer, tokenCounts } from "./token-counts.ts";

/** Weight of an answer in the mean length of a model's answers. */
const LENGTH_WEIGHT = 0.05;
/** Bytes of lines that wait for their reader; what comes then is lost, and counted. */
const MOST_WAITING = 1_024 * 1_024;

/** Where the lines of one recording go. */
export interface Sink {
  /** Bytes that have not been taken yet. */
  waiting(): number;
  write(text: string): void;
  end(): void;
}

/** A request that has ended. Times in milliseconds on the clock of `now`. */
export interface SeenRequest extends Omit<SeenAnswer, "usualOutput"> {
  arrivedAt: number;
  firstByteAt: number | null;
  endedAt: number;
  /** A name of the catalogue. */
  model: string;
  /** The key's name; empty without keys. */
  callerName: string;
  priority: "interactive" | "batch" | null;
  deadlineMs: number | null;
  status: number;
}

/** One reader's recording: numbers in place of names of keys, and a line for each request that came while it runs. */
export class Recording {
  readonly #sink: Sink;
  readonly #startedAt: number;
  readonly #keys = new Map<string, number>();
  readonly #usualOutput = new Map<string, number>();
  #lost = 0;

  /** `started`: the same time as `startedAt`, as ISO 8601. */
  constructor(sink: Sink, startedAt: number, started: string) {
    this.#sink = sink;
    this.#startedAt = startedAt;
    this.#put({ farmgate_trace: TRACE_VERSION, started } satisfies TraceHead);
  }

  ended(seen: SeenRequest): void {
    if (seen.arrivedAt < this.#startedAt) return;
    const usual = this.#usualOutput.get(seen.model) ?? null;
    const counts = tokenCounts({ ...seen, usualOutput: Math.round(usual ?? 0) });
    if (counts === null) return;
    const { input, output, isEstimated } = counts;
    if (output > 0 && seen.status < 300) this.#usualOutput.set(seen.model, movingMean(usual, output, LENGTH_WEIGHT));
    const line: TraceLine = {
      at: fine(seen.arrivedAt - this.#startedAt),
      model: seen.model,
      api: seen.api,
      input,
      output,
    };
    if (isEstimated) line.estimated = true;
    if (seen.callerName !== "") line.key = this.#keyOf(seen.callerName);
    if (seen.priority !== null) line.priority = seen.priority;
    if (seen.deadlineMs !== null) line.deadline = seen.deadlineMs;
    line.status = seen.status;
    if (seen.firstByteAt !== null) line.ttft = fine(seen.firstByteAt - seen.arrivedAt);
    line.ms = fine(seen.endedAt - seen.arrivedAt);
    this.#putOrLose(line);
  }

  /** So that nobody on the way takes it for dead: readers pass over an empty line. */
  stayAlive(): void {
    if (this.#sink.waiting() === 0) this.#sink.write("\n");
  }

  end(): void {
    this.#tellLost();
    this.#sink.end();
  }

  #putOrLose(line: TraceLine): void {
    if (this.#sink.waiting() >= MOST_WAITING) {
      this.#lost += 1;
      return;
    }
    this.#tellLost();
    this.#put(line);
  }

  #tellLost(): void {
    if (this.#lost > 0) this.#put({ lost: this.#lost });
    this.#lost = 0;
  }

  #put(line: TraceHead | TraceLine | LostLine): void {
    this.#sink.write(`${JSON.stringify(line)}\n`);
  }

  #keyOf(name: string): number {
    const known = this.#keys.get(name) ?? this.#keys.size + 1;
    this.#keys.set(name, known);
    return known;
  }
}

/** To a microsecond. */
function fine(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
