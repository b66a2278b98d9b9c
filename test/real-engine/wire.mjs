// What goes over the wire: reading OpenAI requests, and the shapes of the answers.

/** A request that the caller has to mend. */
export class BadRequest extends Error {
  /** @param {string} message @param {number} [status] @param {string} [type] @param {object} [more] */
  constructor(message, status = 400, type = "invalid_request_error", more = {}) {
    super(message);
    this.status = status;
    this.type = type;
    this.more = more;
  }
}

/** @param {number} code @param {string} type @param {string} message @param {object} [more] */
export const errorBody = (code, type, message, more = {}) => ({ error: { message, type, code, ...more } });

export const LOADING = errorBody(503, "unavailable_error", "Loading model");

/** @param {unknown} value @param {string} name @param {number} fallback @param {number} least */
function number(value, name, fallback, least) {
  if (value === undefined || value === null) return fallback;
  if (typeof value !== "number" || !(value >= least))
    throw new BadRequest(`'${name}' must be a number, at least ${least}`);
  return value;
}

/**
 * The last user message is the prompt: a story model has no chat template.
 * @param {unknown} messages
 */
function lastUserText(messages) {
  if (!Array.isArray(messages)) throw new BadRequest("'messages' must be a list");
  const content = messages.findLast((message) => message?.role === "user")?.content;
  const parts = Array.isArray(content) ? content : [{ type: "text", text: content }];
  const text = parts.map((part) => (part?.type === "text" && typeof part.text === "string" ? part.text : "")).join("");
  if (text === "") throw new BadRequest("'messages' has no user message with text");
  return text;
}

/** @param {Buffer} bytes @param {boolean} chat @param {string} name the model that is loaded here */
export function readRequest(bytes, chat, name) {
  let body;
  try {
    body = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new BadRequest("the body is not JSON");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new BadRequest("the body is not a JSON object");
  // Stricter than most one-model servers, so that a request which went astray is seen.
  if (body.model !== undefined && body.model !== name)
    throw new BadRequest(`model '${body.model}' is not here, only '${name}'`, 404, "not_found_error");
  if (!chat && (typeof body.prompt !== "string" || body.prompt === "")) throw new BadRequest("'prompt' must be a text");
  const stop = body.stop === undefined || body.stop === null ? [] : [body.stop].flat();
  if (!stop.every((text) => typeof text === "string" && text !== ""))
    throw new BadRequest("'stop' must be a text or a list of texts");
  return {
    prompt: chat ? lastUserText(body.messages) : body.prompt,
    stream: body.stream === true,
    usage: body.stream_options?.include_usage === true,
    maxTokens: Math.floor(number(body.max_completion_tokens ?? body.max_tokens, "max_tokens", 256, 1)),
    temperature: number(body.temperature, "temperature", 0.8, 0),
    seed: body.seed === undefined || body.seed === null ? undefined : Math.floor(number(body.seed, "seed", 0, 0)),
    ignoreEos: body.ignore_eos === true,
    stop,
  };
}

/**
 * The answers to one request, in the shape of the API that was called.
 * @param {boolean} chat @param {string} id @param {string} model
 */
export function answers(chat, id, model) {
  const created = Math.floor(Date.now() / 1000);
  /** @param {string} object @param {object[]} choices @param {object} [more] */
  const wrap = (object, choices, more) => ({ id, object, created, model, choices, ...more });
  const chunkObject = chat ? "chat.completion.chunk" : "text_completion";
  /** @param {object} delta @param {string | null} finish_reason */
  const chatChunk = (delta, finish_reason) => [{ index: 0, delta, logprobs: null, finish_reason }];
  /** @param {string} text @param {string | null} finish_reason */
  const textChunk = (text, finish_reason) => [{ index: 0, text, logprobs: null, finish_reason }];

  return {
    /** Opens a stream; only a chat has one. */
    opening: () => (chat ? wrap(chunkObject, chatChunk({ role: "assistant", content: null }, null)) : undefined),
    /** @param {string} text */
    piece: (text) => wrap(chunkObject, chat ? chatChunk({ content: text }, null) : textChunk(text, null)),
    /** @param {import("./model.mjs").Outcome} outcome */
    closing: (outcome) =>
      wrap(chunkObject, chat ? chatChunk({}, outcome.finish) : textChunk("", outcome.finish), {
        timings: timings(outcome),
      }),
    /** @param {import("./model.mjs").Outcome} outcome */
    usage: (outcome) => wrap(chunkObject, [], { usage: usage(outcome) }),
    /** @param {import("./model.mjs").Outcome} outcome */
    whole(outcome) {
      const more = { usage: usage(outcome), timings: timings(outcome) };
      if (!chat) return wrap("text_completion", textChunk(outcome.text, outcome.finish), more);
      const message = { role: "assistant", content: outcome.text };
      return wrap("chat.completion", [{ index: 0, message, logprobs: null, finish_reason: outcome.finish }], more);
    },
  };
}

/** @param {import("./model.mjs").Outcome} outcome */
const usage = ({ promptTokens, tokens }) => ({
  prompt_tokens: promptTokens,
  completion_tokens: tokens,
  total_tokens: promptTokens + tokens,
});

/** @param {import("./model.mjs").Outcome} outcome */
const timings = ({ promptTokens, tokens, promptMs, tokenMs }) => ({
  prompt_n: promptTokens,
  prompt_ms: promptMs,
  predicted_n: tokens,
  predicted_ms: tokenMs,
  predicted_per_second: tokenMs > 0 ? ((tokens - 1) / tokenMs) * 1000 : 0,
});
