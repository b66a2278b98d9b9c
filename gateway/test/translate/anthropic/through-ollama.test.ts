import { describe, expect, it } from "vitest";
import { TranslatedAnswer } from "../../../src/translate/translated-answer.ts";
import { translatorTo } from "../../../src/translate/ways.ts";
import { readMessage } from "./read-message.ts";

const AT = { wallMs: 0, sinceSentMs: 0 };
const CONTEXT = { model: "m", engine: "ollama", requestId: "r1", wallMs: 0 } as const;
const counts = { prompt_eval_count: 7, eval_count: 3 };

describe("messages over an Ollama without /v1", () => {
  const put = (api: "messages" | "count-tokens", stream: boolean) => {
    const body = {
      model: "asked",
      max_tokens: 9,
      system: "Be brief.",
      messages: [{ role: "user", content: "hi" }],
      stream,
    };
    const translated = translatorTo(api, "ollama-chat")?.(body, CONTEXT);
    if (translated === undefined) throw new Error("no such way");
    return translated;
  };

  it("ask its own chat", () => {
    expect(put("messages", true)).toMatchObject({
      api: "ollama-chat",
      body: {
        model: "m",
        stream: true,
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "hi" },
        ],
        options: { num_predict: 9 },
      },
    });
  });

  it("come back whole, and as a stream", () => {
    const told = {
      model: "m",
      message: { role: "assistant", content: "Hello" },
      done: true,
      done_reason: "stop",
      ...counts,
    };
    const whole = put("messages", false).whole(told, AT);
    expect(whole).toMatchObject({
      content: [{ type: "text", text: "Hello" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 7, output_tokens: 3 },
    });
    const lines = [
      { model: "m", message: { role: "assistant", content: "Hel" }, done: false },
      { model: "m", message: { role: "assistant", content: "lo" }, done: false },
      { model: "m", message: { role: "assistant", content: "" }, done: true, done_reason: "stop", ...counts },
    ];
    const answer = new TranslatedAnswer(put("messages", true), "events", ["content-type", "application/x-ndjson"]);
    const text =
      lines.map((line) => answer.push(Buffer.from(`${JSON.stringify(line)}\n`), AT)).join("") + answer.end(AT);
    expect(readMessage(text)).toEqual(whole);
  });

  it("are counted", () => {
    const told = {
      model: "m",
      message: { role: "assistant", content: "H" },
      done: true,
      done_reason: "length",
      ...counts,
    };
    expect(put("count-tokens", false).whole(told, AT)).toEqual({ input_tokens: 7 });
  });
});
