/** Requests in columns, in order of arrival: 600,000 of them fit in 15 MB. All columns have the same length. */
export interface Trace {
  /** What is asked for, by name; `app` is a place in it. */
  applications: readonly string[];
  /** Milliseconds from the trace's start. */
  at: Float64Array;
  app: Uint16Array;
  /** Tokens. At least 1 of `input`; no `output`: an answer that is not made of tokens, as of embeddings. */
  input: Uint32Array;
  output: Uint32Array;
  /** Of `input`, those that an earlier request of the application had in front too; absent: not known. */
  prefix?: Uint32Array;
  /** Whose it is, by a number from 1 on that says nothing else; 0: not known. Absent: of none. */
  key?: Uint16Array;
  /** Milliseconds from its arrival to the first byte that its caller allows; 0: it set none. Absent: none did. */
  deadline?: Float64Array;
  /** 1: it may wait for others (`x-farmgate-priority: batch`). Absent: none may. */
  batch?: Uint8Array;
}
