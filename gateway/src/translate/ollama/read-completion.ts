import { type ChatPiece, NOTHING_SAID } from "../chat/chat-piece.ts";
import { figuresOf } from "../chat/figures.ts";
import { endOf, firstChoice } from "../chat/read-chat.ts";
import { countOf, textOf } from "../json-fields.ts";
import { refuseTold } from "../told-error.ts";
import type { JsonObject } from "../translation.ts";

/** What a chunk of `/v1/completions` says, or its whole answer. */
export function readCompletion(answer: JsonObject): ChatPiece {
  refuseTold(answer);
  const choice = firstChoice(answer);
  const { text } = choice;
  const answers = typeof text === "string";
  return { ...NOTHING_SAID, answers, text: textOf(text), ...endOf(choice), figures: figuresOf(answer) };
}

/** What an event of llama.cpp's `/infill` says, or its whole answer. */
export function readInfill(answer: JsonObject): ChatPiece {
  refuseTold(answer);
  const figures = figuresOf(answer);
  const said = { ...NOTHING_SAID, answers: "content" in answer, text: textOf(answer["content"]), figures };
  if (answer["stop"] !== true) return said;
  // Its timings leave out what it took from its cache.
  const promptTokens = countOf(answer["tokens_evaluated"]) ?? figures.promptTokens;
  return {
    ...said,
    finish: answer["stop_type"] === "limit" ? "length" : "stop",
    figures: { ...figures, promptTokens },
  };
}
