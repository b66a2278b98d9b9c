import { parseJson } from "@farmgate/shared";
import { isObject } from "../json-fields.ts";
import { toldError } from "../told-error.ts";
import { type AnswerTime, type JsonObject, type StreamTranslation, TranslationError } from "../translation.ts";
import type { ChatPiece } from "./chat-piece.ts";

/** Reads one event of a stream, or a whole answer, of one API. Throws `TranslationError`. */
export type PieceReader = (answer: JsonObject) => ChatPiece;

/** Writes one answer down as the caller's API has it: what is to be sent for each step. Throws `TranslationError`. */
export interface AnswerWriter {
  add(piece: ChatPiece, at: AnswerTime): string;
  /** The answer is complete. Called once, and nothing after it. */
  finish(at: AnswerTime): string;
}

/**
 * A worker's stream, written down as it comes. It is complete (1) at `[DONE]`, whether or not a reason for its end was
 * told, or (2) when it ends after a reason was: usage may follow the reason, and some engines send no `[DONE]`.
 * (3) Any other end has cut it short.
 */
export function translateStream(read: PieceReader, writer: AnswerWriter): StreamTranslation {
  let isOver = false;
  let hasReason = false;
  const finish = (at: AnswerTime) => {
    isOver = true;
    return writer.finish(at);
  };
  return {
    push({ event, data }, at) {
      const text = data.trim();
      if (isOver || text === "") return "";
      if (text === "[DONE]") return finish(at); // (1)
      if (event === "error") throw toldError(data);
      const piece = read(jsonObject(parseJson(text), "an event"));
      hasReason ||= piece.finish !== null;
      return writer.add(piece, at);
    },
    end(at) {
      if (isOver) return "";
      return hasReason ? finish(at) : null; // (2) (3)
    },
  };
}

export function readWhole(read: PieceReader, answer: unknown): ChatPiece {
  const piece = read(jsonObject(answer, "an answer"));
  if (!piece.answers) throw new TranslationError("an answer that says nothing");
  return piece;
}

function jsonObject(value: unknown, what: string): JsonObject {
  if (isObject(value)) return value;
  throw new TranslationError(`${what} that is no JSON object`);
}
