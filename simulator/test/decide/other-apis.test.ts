import { inflateSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Body, planAnswer } from "../../src/decide/answer-plan.ts";
import { answerShape } from "../../src/decide/answer-shape.ts";
import { type EngineModel, engineOptionsSchema } from "../../src/decide/options.ts";
import { planPictures } from "../../src/decide/picture.ts";
import { planSpeech } from "../../src/decide/sound.ts";
import { planTemplate, planText, planTokens } from "../../src/decide/tokenizer.ts";
import { planTranscript } from "../../src/decide/transcript.ts";
import type { WholePlan } from "../../src/decide/whole-plan.ts";

const models = engineOptionsSchema.parse({
  models: [{ name: "sound", kind: "audio" }, { name: "draw", kind: "image" }, "chat"],
}).models;
function named(name: string): EngineModel {
  const found = models.find((model) => model.name === name);
  if (found === undefined) throw new Error(`no model ${name}`);
  return found;
}
function planned(plan: WholePlan | { message: string }): { type: string | undefined; bytes: Buffer } {
  if (!("body" in plan)) throw new Error(plan.message);
  return { type: plan.contentType, bytes: Buffer.from(plan.body) };
}
const file = (digest: string) => ({ name: "a.wav", size: 96_000, digest });

describe("speech", () => {
  const speak = (body: Body) => planned(planSpeech({ input: "Hello", voice: "alloy", ...body }, named("sound")));

  test("is a WAV as long as its text, and the same for the same text and voice", () => {
    const { type, bytes } = speak({});
    expect(type).toBe("audio/wav");
    expect(bytes.toString("latin1", 0, 4) + bytes.toString("latin1", 8, 16)).toBe("RIFFWAVEfmt ");
    expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
    expect(bytes.readUInt32LE(40)).toBe(5 * 240 * 2);
    expect(speak({}).bytes).toEqual(bytes);
    expect(speak({ voice: "echo" }).bytes).not.toEqual(bytes);
    expect(speak({ response_format: "pcm" })).toEqual({ type: "audio/pcm", bytes: bytes.subarray(44) });
  });

  test("comes in events that make up the same bytes", () => {
    const { type, bytes } = speak({ stream_format: "sse", input: "a".repeat(100) });
    expect(type).toBe("text/event-stream");
    const events = bytes
      .toString()
      .trim()
      .split("\n\n")
      .map((event) => JSON.parse(event.slice(6)) as { type: string; audio?: string });
    expect(events.at(-1)).toMatchObject({ type: "speech.audio.done" });
    const sound = Buffer.concat(events.map(({ audio }) => Buffer.from(audio ?? "", "base64")));
    expect(sound).toEqual(speak({ input: "a".repeat(100) }).bytes);
  });

  test("needs a text, and a model that speaks", () => {
    expect(planSpeech({}, named("sound"))).toMatchObject({ status: 400 });
    expect(planSpeech({ input: "x" }, named("chat"))).toMatchObject({ status: 501 });
  });
});

describe("a transcript", () => {
  const hear = (body: Body) => planned(planTranscript("transcribe", { file: file("d1"), ...body }, named("sound")));

  test("is the same words in each format, by the file alone", () => {
    const { text } = JSON.parse(hear({}).bytes.toString()) as { text: string };
    expect(hear({ response_format: "text" })).toEqual({
      type: "text/plain; charset=utf-8",
      bytes: Buffer.from(`${text}\n`),
    });
    expect(JSON.parse(hear({ response_format: "verbose_json" }).bytes.toString())).toMatchObject({ text, duration: 2 });
    expect(hear({ stream: "true" }).bytes.toString()).toContain(JSON.stringify({ type: "transcript.text.done", text }));
    expect(hear({ file: file("d2") }).bytes.toString()).not.toContain(text);
    const translated = planned(planTranscript("translate", { file: file("d1") }, named("sound")));
    expect(translated.bytes.toString()).not.toContain(text);
  });

  test("needs a file", () => {
    expect(planTranscript("transcribe", { file: "text" }, named("sound"))).toMatchObject({ status: 400 });
  });
});

test("a picture is a PNG of its prompt and of the pictures sent along", () => {
  const draw = (task: "generations" | "edits" | "variations", body: Body) => {
    const { bytes } = planned(planPictures(task, body, 7, named("draw")));
    const { created, data } = JSON.parse(bytes.toString()) as { created: number; data: { b64_json: string }[] };
    expect(created).toBe(7);
    return data.map((picture) => Buffer.from(picture.b64_json, "base64"));
  };
  const [first, second] = draw("generations", { prompt: "a gate", n: "2" });
  expect(first?.toString("latin1", 1, 4)).toBe("PNG");
  expect(inflateSync(first?.subarray(8 + 25 + 8, -12 - 4) ?? Buffer.alloc(0))).toHaveLength(8 * 25);
  expect(second).not.toEqual(first);
  expect(draw("generations", { prompt: "a gate" })).toEqual([first]);
  expect(draw("edits", { prompt: "a gate", image: [file("x"), file("y")] })).not.toEqual(
    draw("edits", { prompt: "a gate", image: [file("x")] }),
  );
  expect(draw("variations", { image: file("x") })).toHaveLength(1);
  expect(planPictures("edits", { prompt: "p" }, 0, named("draw"))).toMatchObject({ status: 400 });
  expect(planPictures("generations", {}, 0, named("draw"))).toMatchObject({ status: 400 });
  expect(planPictures("generations", { prompt: "p" }, 0, named("chat"))).toMatchObject({ status: 501 });
});

describe("tokens", () => {
  test("lead back to their text, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (content) => {
        expect(planText(planTokens({ content }) as Body)).toEqual({ content });
      }),
    );
  });

  test("come with their pieces when asked for, as bytes where a letter is cut", () => {
    const { tokens } = planTokens({ content: "aé東b", with_pieces: true }) as { tokens: { piece: unknown }[] };
    expect(tokens.map(({ piece }) => piece)).toEqual(["aé", "東", "b"]);
    const cut = planTokens({ content: "aaé", with_pieces: true }) as { tokens: { piece: unknown }[] };
    expect(cut.tokens.map(({ piece }) => piece)).toEqual([[0x61, 0x61, 0xc3], [0xa9]]);
    expect(planText({ tokens: ["x", -1, 5] })).toEqual({ content: "" });
    expect(planText({})).toMatchObject({ status: 400 });
  });
});

test("a template is applied without an answer to it", () => {
  expect(planTemplate({ messages: [{ role: "user", content: "Hi" }] })).toEqual({
    prompt: "<|user|>Hi<|end|><|assistant|>",
  });
  expect(planTemplate({})).toMatchObject({ status: 400 });
});

describe("llama.cpp's own completion", () => {
  const timings = { cachedTokens: 0, promptMs: 1, predictedMs: 1 };

  test("streams pieces with counts, and ends with the figures", () => {
    const plan = planAnswer("completion", { prompt: "Lily saw", n_predict: 3, stream: true }, named("chat"));
    if (!("pieces" in plan)) throw new Error(plan.message);
    const shape = answerShape(plan, { id: "i", created: 1 });
    const read = (event: string) => JSON.parse(event.slice(6)) as Record<string, unknown>;
    expect(plan.pieces.map((piece) => read(shape.token(piece))).map((event) => event["tokens_predicted"])).toEqual([
      1, 2, 3,
    ]);
    const last = read(shape.closing(timings));
    expect(last).toMatchObject({ stop: true, content: "", stop_type: "limit", tokens_predicted: 3, model: "chat" });
    expect(JSON.parse(shape.whole(timings))).toMatchObject({ content: plan.pieces.join(""), stop: true });
  });

  test("fills in between two texts, and needs both", () => {
    const body = { input_prefix: "def f(", input_suffix: "return x" };
    expect(planAnswer("infill", body, named("chat"))).toMatchObject({
      prompt: "<|prefix|>def f(<|suffix|>return x<|middle|>",
    });
    expect(planAnswer("infill", { input_prefix: "a" }, named("chat"))).toMatchObject({ status: 400 });
  });
});
