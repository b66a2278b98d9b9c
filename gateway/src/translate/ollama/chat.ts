import { z } from "zod";
import type { Translator } from "../translation.ts";
import { answersIn, type Wording } from "./answer.ts";
import { isLenient } from "../dialect.ts";
import { format, responseFormat } from "./format.ts";
import { keepAlive, loadRequest } from "./load.ts";
import { message, openaiMessages } from "./messages.ts";
import { options, samplingFields, tokenLimit } from "./options.ts";
import { readChat } from "./read-chat.ts";
import { readRequest } from "./read-request.ts";
import { think, thinkFields } from "./think.ts";

const chatRequest = z.object({
  messages: z.array(message).nullish(),
  stream: z.boolean().nullish(),
  tools: z.array(z.record(z.string(), z.unknown())).nullish(),
  format,
  think,
  options,
  keep_alive: keepAlive,
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().nullish(),
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
  const tools = (given.tools ?? []).map((tool) => ({ type: "function", ...tool }));
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
      ...(given.logprobs === true ? { logprobs: true } : {}),
      ...(given.logprobs === true && given.top_logprobs ? { top_logprobs: given.top_logprobs } : {}),
    },
    streams,
    ...answersIn(chatWording, readChat, model),
  };
};
