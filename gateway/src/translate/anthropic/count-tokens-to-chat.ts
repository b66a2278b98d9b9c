import { readChat } from "../chat/read-chat.ts";
import { objectOf } from "../json-fields.ts";
import { type Translated, type Translator, UntoldError } from "../translation.ts";
import { neverStreams } from "../never-streams.ts";
import { chatMessages } from "./chat-messages.ts";
import { chatThinking } from "./chat-settings.ts";
import { chatTools } from "./chat-tools.ts";

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
  const { promptTokens } = readChat(objectOf(answer)).figures;
  if (promptTokens === null || promptTokens === 0) throw new UntoldError("does not tell how many tokens it read");
  return { input_tokens: promptTokens };
}
