import { seededRandom } from "@farmgate/shared";
import { demandedSchema, demandedTool } from "./demands.ts";
import { digestOf, seedOf } from "./digest.ts";
import { type EngineError, engineError } from "./engine-error.ts";
import { valueForSchema } from "./generate-json.ts";
import type { EngineModel } from "./options.ts";
import { chatPrompt, messagesPrompt, responsesPrompt, textsOf } from "./prompt.ts";
import { tokensOf } from "./tokens.ts";
import { wordTokens } from "./words.ts";

export type TextApi = "chat" | "completions" | "responses" | "messages" | "completion" | "infill";
export type Body = Readonly<Record<string, unknown>>;

/** A whole answer, decided before its first token is sent. */
export interface AnswerPlan {
  api: TextApi;
  /** The model's own name. */
  model: string;
  prompt: string;
  promptTokens: number;
  /** The answer, token by token. */
  pieces: readonly string[];
  finish: "stop" | "length" | "tool_calls";
  /** The function that the pieces are the arguments of, or null for text. */
  tool: string | null;
  stream: boolean;
  includeUsage: boolean;
  digest: string;
}

const SHORTEST = 20;
const LONGEST = 80;

/**
 * Reads a request and decides the answer, which is a pure function of model, prompt, tools, length and `seed`.
 * With `max_tokens` (or its newer names) exactly that many tokens, else 20 to 80.
 */
export function planAnswer(api: TextApi, body: Body, model: EngineModel): AnswerPlan | EngineError {
  if (model.kind !== "chat") return engineError(500, "the current context does not logits computation. skipping");
  const prompt = promptOf(api, body);
  if (typeof prompt !== "string") return prompt;
  const promptTokens = tokensOf(prompt);
  if (promptTokens >= model.contextLength) return contextExceeded(promptTokens, model.contextLength);
  const digest = digestOf(model.name, prompt, JSON.stringify(body["seed"] ?? null));
  const limit = lengthLimit(body, model.contextLength - promptTokens);
  const options = (body["stream_options"] ?? {}) as Body;
  return {
    api,
    model: model.name,
    prompt,
    promptTokens,
    ...contentOf(api, body, digest, limit),
    stream: body["stream"] === true,
    includeUsage: options["include_usage"] === true,
    digest,
  };
}

function contextExceeded(promptTokens: number, contextLength: number): EngineError {
  return {
    status: 400,
    type: "exceed_context_size_error",
    message: `request (${promptTokens} tokens) exceeds the available context size (${contextLength} tokens), try increasing it`,
    extra: { n_prompt_tokens: promptTokens, n_ctx: contextLength },
  };
}

/** The tokens of a prompt, without an answer to it. */
export function countPrompt(api: TextApi, body: Body): number | EngineError {
  const prompt = promptOf(api, body);
  return typeof prompt === "string" ? tokensOf(prompt) : prompt;
}

function promptOf(api: TextApi, body: Body): string | EngineError {
  if (api === "messages") {
    if (!Array.isArray(body["messages"])) return engineError(400, "'messages' is required");
    return messagesPrompt(body["system"], body["messages"], body["tools"]);
  }
  if (api === "chat") {
    if (!Array.isArray(body["messages"])) return engineError(400, "'messages' is required");
    return chatPrompt(body["messages"], body["tools"]);
  }
  if (api === "responses") {
    if (body["input"] === undefined) return engineError(400, "'input' is required");
    return responsesPrompt(body["instructions"], body["input"]);
  }
  if (api === "infill") {
    for (const key of ["input_prefix", "input_suffix"]) {
      if (body[key] === undefined) return engineError(400, `"${key}" is required`);
    }
    return `<|prefix|>${String(body["input_prefix"])}<|suffix|>${String(body["input_suffix"])}<|middle|>`;
  }
  if (body["prompt"] === undefined) return engineError(400, '"prompt" is required');
  return textsOf(body["prompt"]).join("\n");
}

/** Tokens asked for, or null; never more than the context has left. */
function lengthLimit(body: Body, left: number): number | null {
  for (const key of ["max_completion_tokens", "max_tokens", "max_output_tokens", "n_predict"]) {
    const value = body[key];
    if (typeof value === "number" && value >= 0) return Math.min(Math.floor(value), left);
  }
  return null;
}

function contentOf(
  api: TextApi,
  body: Body,
  digest: string,
  limit: number | null,
): Pick<AnswerPlan, "pieces" | "finish" | "tool"> {
  const random = seededRandom(seedOf(digest));
  const tool = demandedTool(api, body);
  if (tool !== null) {
    const pieces = cut(JSON.stringify(valueForSchema(tool.parameters, random)));
    return { pieces, finish: "tool_calls", tool: tool.name };
  }
  const schema = demandedSchema(body);
  if (schema !== null) {
    const pieces = cut(JSON.stringify(valueForSchema(schema, random)));
    if (limit === null || pieces.length <= limit) return { pieces, finish: "stop", tool: null };
    return { pieces: pieces.slice(0, limit), finish: "length", tool: null };
  }
  const count = limit ?? SHORTEST + Math.floor(random() * (LONGEST - SHORTEST + 1));
  return { ...stopped(wordTokens(count, random), body["stop"] ?? body["stop_sequences"], limit), tool: null };
}

/** The answer up to the first of the stop texts, which may begin or end in the middle of a token. */
function stopped(pieces: string[], stop: unknown, limit: number | null): Pick<AnswerPlan, "pieces" | "finish"> {
  const stops = (Array.isArray(stop) ? stop : [stop]).filter((one) => typeof one === "string" && one !== "");
  const text = stops.length === 0 ? "" : pieces.join("");
  const hits = stops.map((one) => text.indexOf(one)).filter((at) => at >= 0);
  if (hits.length === 0) return { pieces, finish: limit === null ? "stop" : "length" };
  let left = Math.min(...hits);
  const kept: string[] = [];
  for (const piece of pieces) {
    if (left <= 0) break;
    kept.push(piece.slice(0, left));
    left -= piece.length;
  }
  return { pieces: kept, finish: "stop" };
}

/** JSON text in pieces of a few letters, as tokens would cut it. */
function cut(text: string): string[] {
  return text.match(/[\s\S]{1,4}/gu) ?? [];
}
