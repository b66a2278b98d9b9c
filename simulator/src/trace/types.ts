/** Requests in columns, in order of arrival: 600,000 of them fit in 15 MB. All columns have the same length. */
export interface Trace {
  /** What is asked for, by name; `app` is a place in it. */
  applications: readonly string[];
  /** Milliseconds from the trace's start. */
  at: Float64Array;
  app: Uint16Array;
  /** Tokens. */
  input: Uint32Array;
  output: Uint32Array;
  /** Of `input`, those that an earlier request of the application had in front too; absent: not known. */
  prefix?: Uint32Array;
}
