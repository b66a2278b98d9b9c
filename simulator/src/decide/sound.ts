import { seededRandom } from "@farmgate/shared";
import type { Body } from "./answer-plan.ts";
import { digestOf, seedOf } from "./digest.ts";
import { type EngineError, engineError } from "./engine-error.ts";
import type { EngineModel } from "./options.ts";
import { tokensOf } from "./tokens.ts";
import { eventsPlan, type WholePlan } from "./whole-plan.ts";

const SAMPLE_RATE = 24_000;
/** Ten milliseconds of sound for each letter, at most so many letters. */
const SAMPLES_PER_LETTER = SAMPLE_RATE / 100;
const MOST_LETTERS = 4_096;
/** Bytes of one piece of a stream. */
const PIECE = 9_600;

/** `/v1/audio/speech`: a hum whose samples depend on model, voice and text alone, as WAV or bare samples (`pcm`). */
export function planSpeech(body: Body, model: EngineModel): WholePlan | EngineError {
  if (model.kind !== "audio") return engineError(501, "This model does not speak");
  const text = body["input"];
  if (typeof text !== "string" || text === "") return engineError(400, '"input" must be provided');
  const samples = hum(digestOf(model.name, String(body["voice"]), text), Math.min(text.length, MOST_LETTERS));
  const promptTokens = tokensOf(text);
  const isRaw = body["response_format"] === "pcm";
  const sound = isRaw ? samples : wav(samples);
  if (body["stream_format"] !== "sse")
    return { promptTokens, contentType: isRaw ? "audio/pcm" : "audio/wav", body: sound };
  const events: object[] = [];
  for (let at = 0; at < sound.length; at += PIECE) {
    events.push({ type: "speech.audio.delta", audio: sound.subarray(at, at + PIECE).toString("base64") });
  }
  const written = events.length;
  const usage = { input_tokens: promptTokens, output_tokens: written, total_tokens: promptTokens + written };
  return eventsPlan(promptTokens, [...events, { type: "speech.audio.done", usage }]);
}

/** Sixteen-bit samples, mono. */
function hum(digest: string, letters: number): Buffer {
  const random = seededRandom(seedOf(digest));
  const samples = Buffer.alloc(letters * SAMPLES_PER_LETTER * 2);
  for (let letter = 0; letter < letters; letter += 1) {
    const step = ((120 + random() * 400) * 2 * Math.PI) / SAMPLE_RATE;
    for (let i = 0; i < SAMPLES_PER_LETTER; i += 1) {
      const sample = Math.round(Math.sin(i * step) * 8_000);
      samples.writeInt16LE(sample, (letter * SAMPLES_PER_LETTER + i) * 2);
    }
  }
  return samples;
}

function wav(samples: Buffer): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(SAMPLE_RATE, 24);
  head.writeUInt32LE(SAMPLE_RATE * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
