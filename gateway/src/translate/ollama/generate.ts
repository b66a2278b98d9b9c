import { FarmError } from "@farmgate/shared";
import { z } from "zod";
import type { PieceReader } from "../chat/answer-stream.ts";
import { readChat } from "../chat/read-chat.ts";
import type { JsonObject, Translated, TranslationContext, Translator } from "../translation.ts";
import { answersIn, type Wording } from "./line-writer.ts";
import { completesBetween, endsByItself, isLenient } from "../dialect.ts";
import { completionFormat, responseFormat } from "./format.ts";
import { contentWith } from "./images.ts";
import { loadRequest } from "./load.ts";
import { logprobFields } from "./logprobs.ts";
import { samplingFields, tokenLimit } from "./options.ts";
import { readCompletion, readInfill } from "./read-completion.ts";
import { readRequest } from "./read-request.ts";
import { thinkFields } from "./think.ts";
import { wishes } from "./wishes.ts";

const generateRequest = z.object({
  prompt: z.string().nullish(),
  suffix: z.string().nullish(),
  system: z.string().nullish(),
  template: z.string().nullish(),
  context: z.array(z.number()).nullish(),
  images: z.array(z.string()).nullish(),
  raw: z.boolean().nullish(),
  ...wishes,
});
type Given = z.output<typeof generateRequest>;

const generateWording: Wording = ({ text, thinking, logprobs }) => ({
  response: text,
  ...(thinking === "" ? {} : { thinking }),
  ...(logprobs.length === 0 ? {} : { logprobs }),
});

/** Tokens of a completion whose caller sets no length, where the engine would stop after a few. */
const DEFAULT_TOKENS = 1_024;

/** `/api/generate` as `/v1/chat/completions`: the engine puts its model's template around the prompt. */
export const ollamaGenerateToChat: Translator = (body, context) => {
  const given = readGiven(body);
  if (!given.prompt) return loadRequest(given, generateWording, context);
  if (given.raw === true) refuse("a raw prompt", "completes texts");
  if (given.suffix) refuse("a suffix", "fills in between two texts");
  const system = given.system ? [{ role: "system", content: given.system }] : [];
  const messages = [...system, { role: "user", content: contentWith(given.prompt, given.images) }];
  const fields = {
    messages,
    ...responseFormat(given.format),
    ...thinkFields(given.think, context),
    ...limitField("max_tokens", tokenLimit(given.options)),
    ...logprobFields(given),
  };
  return put("chat", fields, readChat, given, context);
};

/** `/api/generate` with a suffix as llama.cpp's `/infill`. */
export const ollamaGenerateToInfill: Translator = (body, context) => {
  const given = readGiven(body);
  if (!given.suffix) refuse("a prompt without a suffix", "has more than `/infill`");
  refuseForText(given);
  const fields = {
    input_prefix: given.prompt ?? "",
    input_suffix: given.suffix,
    ...completionFormat(given.format),
    ...limitField("n_predict", tokenLimit(given.options)),
  };
  return put("infill", fields, readInfill, given, context);
};

/** `/api/generate` with a raw prompt or a suffix as `/v1/completions`. */
export const ollamaGenerateToCompletions: Translator = (body, context) => {
  const given = readGiven(body);
  if (!given.prompt) refuse("a request without a prompt", "chats");
  if (given.raw !== true && !given.suffix) refuse("a prompt in its model's template", "chats");
  if (given.suffix && !completesBetween(context.engine)) refuse("a suffix", "fills in between two texts");
  refuseForText(given);
  const limit = tokenLimit(given.options) ?? (endsByItself(context.engine) ? null : DEFAULT_TOKENS);
  const fields = {
    prompt: given.prompt,
    ...(given.suffix ? { suffix: given.suffix } : {}),
    ...completionFormat(given.format),
    ...limitField("max_tokens", limit),
  };
  return put("completions", fields, readCompletion, given, context);
};

/** What no other API has is refused: an answer without regard to it would be a wrong one. */
function readGiven(body: JsonObject): Given {
  const given = readRequest(generateRequest, body);
  if (given.template) refuse("a `template`", "is an Ollama");
  if (given.context?.length)
    refuse("the `context` of an earlier answer", "is an Ollama; else send messages to /api/chat");
  return given;
}

/** What only chat has. */
function refuseForText(given: Given): void {
  if (given.images?.length) refuse("pictures beside a raw prompt or a suffix", "is an Ollama");
  if (given.logprobs === true) refuse("`logprobs` of a raw prompt or with a suffix", "is an Ollama");
}

function put(
  api: "chat" | "infill" | "completions",
  fields: JsonObject,
  read: PieceReader,
  given: Given,
  context: TranslationContext,
): Translated {
  const { model, engine } = context;
  const streams = given.stream ?? true;
  const usage = streams && api !== "infill" && isLenient(engine);
  return {
    api,
    body: {
      model,
      ...fields,
      stream: streams,
      // Without it a stream has no counts; a server that was not recognised may refuse it.
      ...(usage ? { stream_options: { include_usage: true } } : {}),
      ...samplingFields(given.options, context),
    },
    streams,
    ...answersIn(generateWording, read, model),
  };
}

function limitField(name: string, limit: number | null): JsonObject {
  return limit === null ? {} : { [name]: limit };
}

function refuse(what: string, who: string): never {
  throw new FarmError(
    "not_supported",
    `For ${what} a worker is needed that ${who}, and no such worker has this model.`,
  );
}
