import { BodyBytes } from "./body-bytes.ts";

/** Byte offsets in a body: `[start, end)`. */
export interface Span {
  start: number;
  end: number;
}

/** Where the turns of a conversation stand: from the start of the first element to the end of the last. */
export interface TurnsSpan extends Span {
  /**
   * Of the last `ANSWERS_KEPT` elements that are earlier answers, which the caller sends back, in order: the end of the
   * element before it. One that comes first has none.
   */
  beforeAnswers: readonly number[];
}

/** A body may hold millions of elements; what is kept of them is bounded. */
export const ANSWERS_KEPT = 64;

/** How another model is written into a body: in place of the bytes of `span`, which is empty where none is named. */
export interface ModelPlace {
  span: Span;
  before: string;
  /** As a JSON string, or as it is. */
  quoted: boolean;
  after: string;
}

/** What routing reads of a request body. */
export interface ScannedBody {
  ok: true;
  /** null: the body names none. */
  model: string | null;
  modelPlace: ModelPlace;
  /** null: absent, or no boolean (APIs differ in what that means). */
  stream: boolean | null;
  /** The turns of a chat. null: no such array, or an empty one; so for `input`. */
  messages: TurnsSpan | null;
  /** The turns of a Responses call; lists of texts for embeddings stand there as well. */
  input: TurnsSpan | null;
  /** What stands before all turns, outside of them: `system` or `instructions`. */
  system: Span | null;
}

/** What is found in the place of a body where there is none. */
export const NOTHING_FOUND: ScannedBody = {
  ok: true,
  model: null,
  modelPlace: { span: { start: 0, end: 0 }, before: "", quoted: false, after: "" },
  stream: null,
  messages: null,
  input: null,
  system: null,
};

/** Why a body cannot be routed: for a 400 `invalid_request`. */
export interface RefusedBody {
  ok: false;
  message: string;
  /** The field at fault; null: the body itself. */
  param: string | null;
}

export type BodyScan = ScannedBody | RefusedBody;

/** Reads what routing needs of a body while it comes; no byte is looked at twice, and none is kept. */
export interface BodyScanner {
  push(bytes: Buffer): void;
  /** The body cannot be routed, whatever follows. */
  readonly isRefused: boolean;
  /** What was found; no more bytes come. */
  finish(): BodyScan;
}

export function refused(message: string, param: string | null): RefusedBody {
  return { ok: false, message, param };
}

/** The same body with that model: the bytes of `modelPlace` change, no others. The given body is left as it is. */
export function replaceModel(body: BodyBytes, scan: ScannedBody, model: string): BodyBytes {
  if (model === scan.model) return body;
  const { span, before, quoted, after } = scan.modelPlace;
  const written = Buffer.from(before + (quoted ? JSON.stringify(model) : model) + after);
  return new BodyBytes([...body.range(0, span.start), written, ...body.range(span.end, body.length)]);
}
