import { readWhole, translateStream } from "../chat/answer-stream.ts";
import { readChat } from "../chat/read-chat.ts";
import type { Translator } from "../translation.ts";
import { toChatBody } from "./chat-body.ts";
import { ResponseWriter } from "./response-writer.ts";
import { readTools } from "./tools.ts";

/** `/v1/responses` over chat: text, pictures, reasoning and functions, each request by itself, since no state is kept. */
export const responsesToChat: Translator = (body, context) => {
  const tools = readTools(body);
  const chat = toChatBody(body, context, tools);
  const writer = () => new ResponseWriter(body, context, tools.called);
  const writeWhole = (answer: unknown) => {
    const whole = writer();
    const events = whole.add(readWhole(readChat, answer)) + whole.finish();
    return { events, response: whole.response };
  };
  return {
    api: "chat",
    body: chat,
    streams: body["stream"] === true,
    whole: (answer) => writeWhole(answer).response,
    wholeAsStream: (answer) => writeWhole(answer).events,
    stream: () => translateStream(readChat, writer()),
  };
};
