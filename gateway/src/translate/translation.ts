import type { EngineName } from "@farmgate/engines";
import type { Api } from "@farmgate/shared";

/** A request's JSON body, parsed. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A moment of an answer, for APIs whose answers tell times. Milliseconds. */
export interface AnswerTime {
  /** Since the Unix epoch. */
  wallMs: number;
  /** Since the request was sent to its worker. */
  sinceSentMs: number;
}

/** What a translation may not make up for itself. */
export interface TranslationContext {
  /** The model as the worker spells it. */
  model: string;
  /** Who is asked, since engines differ in what they take beyond their API; null: not recognised. */
  engine: EngineName | null;
  /** The request's id, unique: ids in answers are made of it. */
  requestId: string;
  /** The moment of the translation. Milliseconds since the Unix epoch. */
  wallMs: number;
}

/** One event of a worker's stream: a server-sent event, or a line of JSON (whose `event` is then empty). */
export interface WorkerEvent {
  event: string;
  data: string;
}

/** Writes a worker's stream down as the caller's API has it. Made for one answer. */
export interface StreamTranslation {
  /** What the caller is sent for one event of the worker; empty: nothing. Throws `TranslationError`. */
  push(event: WorkerEvent, at: AnswerTime): string;
  /**
   * The worker's stream has ended; what is still to be sent. null: it ended before its answer had, which the caller is
   * told by an error: no finish is ever invented.
   */
  end(at: AnswerTime): string | null;
}

/** A request as another API has it, and how its answers come back. */
export interface Translated {
  /** The API it is put as. */
  api: Api;
  /** Its body, `model` included. */
  body: JsonObject;
  /** The caller gets a stream. A worker may answer with a whole body all the same. */
  streams: boolean;
  /** A whole answer of the worker as the caller's API has it: the JSON body. Throws `TranslationError`. */
  whole(answer: unknown, at: AnswerTime): object;
  /** The same as a stream, for a caller who asked for one: all of its text. Throws `TranslationError`. */
  wholeAsStream(answer: unknown, at: AnswerTime): string;
  stream(): StreamTranslation;
}

/**
 * One way to put a question of one API as another. Throws the FarmError that refuses a request which cannot be put so:
 * `invalid_request` for one that is wrong in its own API, `not_supported` for what the other API lacks.
 */
export type Translator = (body: JsonObject, context: TranslationContext) => Translated;

/** A worker's answer that is not what its API has, or an error that the worker told inside it. */
export class TranslationError extends Error {
  override readonly name: string = "TranslationError";
}

/** A whole answer that is good, but does not tell what was asked for: the worker does not offer it in this way. */
export class UntoldError extends TranslationError {
  override readonly name = "UntoldError";
}
