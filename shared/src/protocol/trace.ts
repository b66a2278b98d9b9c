/** Of the format of recorded traces. A field more changes nothing; another meaning of one makes a new version. */
export const TRACE_VERSION = 1;

/** The first line of a recorded trace. */
export interface TraceHead {
  farmgate_trace: typeof TRACE_VERSION;
  /** When `at` was 0, for people: ISO 8601. */
  started?: string;
}

/** One request of a recorded trace: how much was asked for and when, and nothing of what was said. */
export interface TraceLine {
  /** Milliseconds from the start of the recording to its arrival. */
  at: number;
  /** A name of the catalogue. */
  model: string;
  api?: string;
  /** Tokens. No output: an answer that is not made of tokens, as of embeddings. */
  input: number;
  output: number;
  /** The tokens were not counted by an engine. */
  estimated?: true;
  /** Of `input`, those that an earlier request had in front too. */
  prefix?: number;
  /** Whose it was, by a number from 1 on that says nothing else. */
  key?: number;
  priority?: "interactive" | "batch";
  /** Milliseconds to the first byte that its caller allowed. */
  deadline?: number;
  /** How it went: the answer's status, and milliseconds from its arrival to the first byte and to the end. */
  status?: number;
  ttft?: number;
  ms?: number;
}

/** In place of requests that the reader of the recording was too slow for. */
export interface LostLine {
  lost: number;
}
