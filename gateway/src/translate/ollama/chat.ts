import { z } from "zod";
import type { Translator } from "../translation.ts";
import { answersIn, type Wording } from "./line-writer.ts";
import { isLenient } from "../dialect.ts";
import { responseFormat } from "./format.ts";
import { loadRequest } from "./load.ts";
import { logprobFields } from "./logprobs.ts";
import { message, openaiMessages } from "./messages.ts";
import { samplingFields, tokenLimit } from "./options.ts";
import { readChat } from "../chat/read-chat.ts";
import { readRequest } from "./read-request.ts";
import { thinkFields } from "./think.ts";
import { wishes } from "./wishes.ts";

const chatRequest = z.object({
  messages: z.array(message).nullish(),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string().min(1) }) })).nullish(),
  ...wishes,
});

const chatWording: Wording = ({ text, thinking, calls, logprobs }) => ({
  message: {
    role: "assistant",
    content: text,
    ...(thinking === "" ? {} : { thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  },
  ...(logprobs.length === 0 ? {} : { logprobs }),
});

/** `/api/chat` as `/v1/chat/completions`. */
export const ollamaChatToChat: Translator = (body, context) => {
  const given = readRequest(chatRequest, body);
  const { model, engine } = context;
  const messages = given.messages ?? [];
  if (messages.length === 0) return loadRequest(given, chatWording, context);
  const streams = given.stream ?? true;
  const limit = tokenLimit(given.options);
  const tools = (given.tools ?? []).map((tool) => ({ ...tool, type: "function" }));
  return {
    api: "chat",
    body: {
      model,
      messages: openaiMessages(messages, context),
      stream: streams,
      // Without it a stream has no counts; a server that was not recognised may refuse it.
      ...(streams && isLenient(engine) ? { stream_options: { include_usage: true } } : {}),
      ...(tools.length === 0 ? {} : { tools }),
      ...responseFormat(given.format),
      ...thinkFields(given.think, context),
      ...samplingFields(given.options, context),
      ...(limit === null ? {} : { max_tokens: limit }),
      ...logprobFields(given),
    },
    streams,
    ...answersIn(chatWording, readChat, model),
  };
};
