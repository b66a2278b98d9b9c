import { type Translated, TranslationError, type Translator, UntoldError } from "../translation.ts";
import { neverStreams } from "../never-streams.ts";
import { chatMessages } from "./chat-messages.ts";
import { chatThinking } from "./chat-settings.ts";
import { chatTools } from "./chat-tools.ts";
import { isObject } from "./fields.ts";

/**
 * `/v1/messages/count_tokens` put to an engine that does not count without answering: it is asked for one token, and
 * what it read of the prompt is the count. That is the true number, by the model's own tokenizer and template. It costs
 * the reading of the prompt; an engine that caches prefixes has it done when the question itself comes.
 */
export const countTokensToChat: Translator = (body, context): Translated => ({
  api: "chat",
  body: {
    model: context.model,
    messages: chatMessages(body, context),
    ...chatTools(body),
    ...chatThinking(body, context.engine),
    max_tokens: 1,
    stream: false,
  },
  ...neverStreams(countOf),
});

function countOf(answer: unknown): object {
  if (!isObject(answer)) throw new TranslationError("an answer that is no JSON object");
  const { usage, timings } = answer;
  if (isObject(usage) && isCount(usage["prompt_tokens"])) return { input_tokens: usage["prompt_tokens"] };
  if (isObject(timings) && isCount(timings["prompt_n"])) {
    return { input_tokens: timings["prompt_n"] + (isCount(timings["cache_n"]) ? timings["cache_n"] : 0) };
  }
  throw new UntoldError("does not tell how many tokens it read");
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && value > 0;
}
