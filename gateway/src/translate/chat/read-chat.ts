import { isObject, listOf, numberOf, objectOf, textOf } from "../json-fields.ts";
import { refuseTold } from "../told-error.ts";
import { type JsonObject, TranslationError } from "../translation.ts";
import type { CallPiece, ChatPiece } from "./chat-piece.ts";
import { figuresOf } from "./figures.ts";

/** What a chunk of `/v1/chat/completions` says, or its whole answer: they differ in the word `delta`. */
export function readChat(answer: JsonObject): ChatPiece {
  refuseTold(answer);
  const choice = firstChoice(answer);
  const { delta, message } = choice;
  const said = objectOf(isObject(delta) ? delta : message);
  return {
    answers: isObject(delta) || isObject(message),
    model: textOf(answer["model"]),
    // llama-server and vLLM name it in these two ways.
    thinking: wordsOf(said["reasoning_content"]) || wordsOf(said["reasoning"]),
    text: wordsOf(said["content"]) + textOf(said["refusal"]),
    // In a whole answer each is complete, and told apart by its place.
    calls: listOf(said["tool_calls"]).map((call, i) => callOf(objectOf(call), said === message ? i : null)),
    logprobs: listOf(objectOf(choice["logprobs"])["content"]),
    ...endOf(choice),
    figures: figuresOf(answer),
  };
}

/** The choice that was asked for; an empty one where there is none. */
export function firstChoice({ choices }: JsonObject): JsonObject {
  const first = ({ index }: JsonObject) => index === undefined || index === null || index === 0;
  return listOf(choices).filter(isObject).find(first) ?? {};
}

/**
 * Why a choice ended. vLLM and SGLang name the stop sequence, each in its own way. Throws for one that the engine's
 * failure ended.
 */
export function endOf(choice: JsonObject): Pick<ChatPiece, "finish" | "stoppedBy"> {
  const reason = textOf(choice["finish_reason"]);
  if (reason === "error" || reason === "abort") throw new TranslationError(`it ended its answer by "${reason}"`);
  const finish = reason === "max_tokens" ? "length" : reason;
  return { finish: finish || null, stoppedBy: textOf(choice["stop_reason"]) || textOf(choice["matched_stop"]) || null };
}

function callOf({ index, id, function: called }: JsonObject, place: number | null): CallPiece {
  const { name, arguments: args } = objectOf(called);
  return {
    index: place ?? numberOf(index),
    id: textOf(id) || null,
    name: textOf(name) || null,
    // Some engines send the arguments as the object that they are.
    args: isObject(args) ? JSON.stringify(args) : textOf(args),
  };
}

/** A text, or the text parts of a list. */
function wordsOf(value: unknown): string {
  if (Array.isArray(value)) return value.map((part) => textOf(objectOf(part)["text"])).join("");
  return textOf(value);
}
