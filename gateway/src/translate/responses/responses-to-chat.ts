import type { StreamTranslation, Translator } from "../translation.ts";
import { toChatBody } from "./chat-body.ts";
import { readChatAnswer, readChatChunk } from "./read-chat.ts";
import { ResponseWriter } from "./response-writer.ts";
import { readTools } from "./tools.ts";

/** `/v1/responses` over chat: text, pictures, reasoning and functions, each request by itself, since no state is kept. */
export const responsesToChat: Translator = (body, context) => {
  const tools = readTools(body);
  const chat = toChatBody(body, context, tools);
  const writer = () => new ResponseWriter(body, context, tools.custom);
  const writeWhole = (answer: unknown) => {
    const piece = readChatAnswer(answer);
    const whole = writer();
    return { events: whole.add(piece) + whole.finish(piece.finish), response: whole.response };
  };
  return {
    api: "chat",
    body: chat,
    streams: body["stream"] === true,
    whole: (answer) => writeWhole(answer).response,
    wholeAsStream: (answer) => writeWhole(answer).events,
    stream: () => translateStream(writer()),
  };
};

/** The worker's stream is complete with `[DONE]`, or with a finish reason and its end: usage may come between the two. */
function translateStream(writer: ResponseWriter): StreamTranslation {
  let finish: string | null = null;
  let isOver = false;
  const finishOnce = () => {
    if (isOver) return "";
    isOver = true;
    return writer.finish(finish);
  };
  return {
    push({ data }) {
      if (isOver) return "";
      if (data.trim() === "[DONE]") return finishOnce();
      const piece = readChatChunk(data);
      finish = piece.finish ?? finish;
      return writer.add(piece);
    },
    end: () => (isOver || finish !== null ? finishOnce() : null),
  };
}
