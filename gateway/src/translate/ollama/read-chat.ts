import type { JsonObject } from "../translation.ts";
import { asList, asNumber, asObject, asText, figuresOf, NOTHING_SAID, refuseTold, type Said } from "./said.ts";
import type { ToolCallPart } from "./tool-calls.ts";

/** What a chunk of `/v1/chat/completions` says, or its whole answer: they differ in the word `delta`. */
export function readChat(answer: JsonObject): Said {
  refuseTold(answer);
  const choice = firstChoice(answer);
  const figures = figuresOf(answer);
  if (choice === null) return { ...NOTHING_SAID, figures };
  const message = asObject(choice["delta"]) ?? asObject(choice["message"]) ?? {};
  return {
    text: asText(message["content"]),
    thinking: asText(message["reasoning_content"]) || asText(message["reasoning"]),
    calls: asList(message["tool_calls"]).map(partOf),
    logprobs: asList(asObject(choice["logprobs"])?.["content"]).map(logprobOf),
    finish: asText(choice["finish_reason"]) || null,
    figures,
  };
}

/** What a chunk of `/v1/completions` says, or its whole answer. */
export function readCompletion(answer: JsonObject): Said {
  refuseTold(answer);
  const choice = firstChoice(answer) ?? {};
  return {
    ...NOTHING_SAID,
    text: asText(choice["text"]),
    finish: asText(choice["finish_reason"]) || null,
    figures: figuresOf(answer),
  };
}

/** What an event of llama.cpp's `/infill` says, or its whole answer. */
export function readInfill(answer: JsonObject): Said {
  refuseTold(answer);
  const figures = figuresOf(answer);
  const isLast = answer["stop"] === true;
  return {
    ...NOTHING_SAID,
    text: asText(answer["content"]),
    finish: isLast ? (answer["stop_type"] === "limit" ? "length" : "stop") : null,
    // Its timings leave out what it took from its cache.
    figures: isLast
      ? { ...figures, promptTokens: asNumber(answer["tokens_evaluated"]) ?? figures.promptTokens }
      : figures,
  };
}

function firstChoice(answer: JsonObject): JsonObject | null {
  const choices = asList(answer["choices"]).map(asObject);
  return choices.find((choice) => choice?.["index"] === 0) ?? choices[0] ?? null;
}

function partOf(value: unknown): ToolCallPart {
  const part = asObject(value) ?? {};
  const called = asObject(part["function"]) ?? {};
  const given = called["arguments"];
  return {
    index: asNumber(part["index"]),
    id: asText(part["id"]),
    name: asText(called["name"]),
    text: asObject(given) === null ? asText(given) : JSON.stringify(given),
  };
}

function logprobOf(value: unknown): object {
  const told = asObject(value) ?? {};
  const top = asList(told["top_logprobs"]).map(tokenOf);
  return top.length === 0 ? tokenOf(told) : { ...tokenOf(told), top_logprobs: top };
}

function tokenOf(value: unknown): object {
  const { token, logprob, bytes } = asObject(value) ?? {};
  return { token, logprob, bytes };
}
