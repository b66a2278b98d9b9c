import { seededRandom } from "@farmgate/shared";
import { digestOf, seedOf } from "./digest.ts";
import { type EngineError, engineError } from "./engine-error.ts";
import { valueForSchema } from "./generate-json.ts";
import type { EngineModel } from "./options.ts";
import { chatPrompt, responsesPrompt, textsOf } from "./prompt.ts";
import { tokensOf } from "./tokens.ts";
import { wordTokens } from "./words.ts";

export type TextApi = "chat" | "completions" | "responses";
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

export function contextExceeded(promptTokens: number, contextLength: number): EngineError {
  return {
    status: 400,
    type: "exceed_context_size_error",
    message: `request (${promptTokens} tokens) exceeds the available context size (${contextLength} tokens), try increasing it`,
    extra: { n_prompt_tokens: promptTokens, n_ctx: contextLength },
  };
}

function promptOf(api: TextApi, body: Body): string | EngineError {
  if (api === "chat") {
    if (!Array.isArray(body["messages"])) return engineError(400, "'messages' is required");
    return chatPrompt(body["messages"], body["tools"]);
  }
  if (api === "responses") {
    if (body["input"] === undefined) return engineError(400, "'input' is required");
    return responsesPrompt(body["instructions"], body["input"]);
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
  const tool = api === "chat" ? demandedTool(body) : null;
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
  return { ...stopped(wordTokens(count, random), body["stop"], limit), tool: null };
}

/** The answer up to the first of the stop texts. */
function stopped(pieces: string[], stop: unknown, limit: number | null): Pick<AnswerPlan, "pieces" | "finish"> {
  const stops = (Array.isArray(stop) ? stop : [stop]).filter(
    (text): text is string => typeof text === "string" && text !== "",
  );
  let text = "";
  for (const [i, piece] of pieces.entries()) {
    const before = text.length;
    text += piece;
    const hits = stops.map((one) => text.indexOf(one)).filter((at) => at >= 0);
    if (hits.length === 0) continue;
    // A stop text may begin inside an earlier piece; what was sent then stays sent, as when a model streams.
    const kept = text.slice(before, Math.max(before, Math.min(...hits)));
    return { pieces: kept === "" ? pieces.slice(0, i) : [...pieces.slice(0, i), kept], finish: "stop" };
  }
  return { pieces, finish: limit === null ? "stop" : "length" };
}

/** The function that `tool_choice` demands: the named one, or with `required` the first. */
function demandedTool(body: Body): { name: string; parameters: unknown } | null {
  const tools = Array.isArray(body["tools"]) ? body["tools"] : [];
  const choice = body["tool_choice"];
  const named = (((choice ?? {}) as Body)["function"] as Body | undefined)?.["name"];
  if (choice !== "required" && typeof named !== "string") return null;
  for (const tool of tools) {
    const { name, parameters } = (((tool ?? {}) as Body)["function"] ?? {}) as Body;
    if (typeof name === "string" && (named === undefined || named === name)) return { name, parameters };
  }
  return null;
}

/** The schema that a structured answer must fit, or null. */
function demandedSchema(body: Body): unknown {
  const format = (body["response_format"] ?? {}) as Body;
  if (format["type"] === "json_object") return format["schema"] ?? { properties: { answer: { type: "string" } } };
  if (format["type"] !== "json_schema") return null;
  return ((format["json_schema"] ?? {}) as Body)["schema"] ?? null;
}

/** JSON text in pieces of a few letters, as tokens would cut it. */
function cut(text: string): string[] {
  return text.match(/[\s\S]{1,4}/gu) ?? [];
}
