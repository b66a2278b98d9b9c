import { translateStream } from "../chat/answer-stream.ts";
import { readChat } from "../chat/read-chat.ts";
import type { JsonObject, Translated, Translator } from "../translation.ts";
import { chatMessages } from "./chat-messages.ts";
import { chatSettings, stopSequences } from "./chat-settings.ts";
import { chatTools } from "./chat-tools.ts";
import { isObject } from "../json-fields.ts";
import { messageAsEvents } from "./message-events.ts";
import { messageOf } from "./message.ts";
import { MessageWriter } from "./message-writer.ts";

/**
 * `/v1/messages` put to an engine that has only chat.
 * Usage is asked for in streams (`include_usage`), since Anthropic's callers count by it; it is only ever asked for in
 * requests that are the gateway's own, as this one is. Every engine that is known and lacks messages takes that
 * option; an unknown one that does not is asked again without it (`without-usage.ts`).
 */
export const messagesToChat: Translator = (body, context): Translated => {
  const { model, requestId } = context;
  const frame = { id: `msg_${requestId}`, model, stops: stopSequences(body), thinks: wantsThinking(body) };
  const streams = body["stream"] === true;
  return {
    api: "chat",
    body: {
      model,
      messages: chatMessages(body, context),
      ...chatTools(body),
      ...chatSettings(body, context),
      ...(streams ? { stream: true, stream_options: { include_usage: true } } : { stream: false }),
    },
    streams,
    whole: (answer) => messageOf(answer, frame),
    wholeAsStream: (answer) => messageAsEvents(messageOf(answer, frame)),
    stream: () => translateStream(readChat, new MessageWriter(frame)),
  };
};

/** A model may think although it was not asked to; only who forbade it is not shown it. */
function wantsThinking({ thinking }: JsonObject): boolean {
  return !(isObject(thinking) && thinking["type"] === "disabled");
}
