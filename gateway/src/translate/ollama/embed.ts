import { z } from "zod";
import { figuresOf } from "../chat/figures.ts";
import { countOf, listOf, objectOf } from "../json-fields.ts";
import { neverStreams } from "../never-streams.ts";
import { refuseTold } from "../told-error.ts";
import {
  type AnswerTime,
  type JsonObject,
  type Translated,
  type TranslationContext,
  TranslationError,
  type Translator,
} from "../translation.ts";
import { nanoseconds } from "./durations.ts";
import { readRequest } from "./read-request.ts";

const embedRequest = z.object({
  input: z.union([z.string(), z.array(z.string())], { error: "expected a text or a list of texts" }).nullish(),
  dimensions: z.number().nullish(),
});
const embeddingsRequest = z.object({ prompt: z.string().nullish() });

/** Embedded for a request without a text, which with Ollama loads the model. */
const ANY_TEXT = "Hi";

/**
 * `/api/embed` as `/v1/embeddings`. `truncate` has no counterpart: an engine does with a text that is too long for it
 * what it always does, which mostly is to refuse it.
 */
export const ollamaEmbedToEmbeddings: Translator = (body, context) => {
  const { input, dimensions } = readRequest(embedRequest, body);
  const isEmpty = input === null || input === undefined || input.length === 0;
  const fields = { input: isEmpty ? ANY_TEXT : input, ...(dimensions ? { dimensions } : {}) };
  return embeddings(fields, context, (answer, at) => ({
    model: context.model,
    embeddings: isEmpty ? [] : vectorsOf(answer, typeof input === "string" ? 1 : input.length),
    total_duration: nanoseconds(at.sinceSentMs),
    load_duration: 0,
    prompt_eval_count: (isEmpty ? 0 : figuresOf(answer).promptTokens) ?? undefined,
  }));
};

/** `/api/embeddings`, Ollama's older one with a single text, as `/v1/embeddings`. */
export const ollamaEmbeddingsToEmbeddings: Translator = (body, context) => {
  const { prompt } = readRequest(embeddingsRequest, body);
  const fields = { input: prompt || ANY_TEXT };
  return embeddings(fields, context, (answer) => ({ embedding: prompt ? (vectorsOf(answer, 1)[0] ?? []) : [] }));
};

function embeddings(
  fields: JsonObject,
  { model }: TranslationContext,
  whole: (answer: JsonObject, at: AnswerTime) => object,
): Translated {
  return {
    api: "embeddings",
    body: { model, ...fields, encoding_format: "float" },
    ...neverStreams((told, at) => {
      const answer = objectOf(told);
      refuseTold(answer);
      return whole(answer, at);
    }),
  };
}

/** In the order of the texts, whatever the order of the answer. Throws unless there is one for each. */
function vectorsOf({ data }: JsonObject, count: number): number[][] {
  const vectors: number[][] = [];
  for (const [at, value] of listOf(data).entries()) {
    const entry = objectOf(value);
    vectors[countOf(entry["index"]) ?? at] = vectorOf(entry["embedding"]);
  }
  const isWhole = vectors.length === count && Object.keys(vectors).length === count;
  if (!isWhole) throw new TranslationError("an answer that has not one embedding for each text");
  return vectors;
}

/** Some servers answer base64 whatever they are asked for. */
function vectorOf(value: unknown): number[] {
  if (Array.isArray(value)) return value as number[];
  if (typeof value !== "string") throw new TranslationError("an embedding that is no list of numbers");
  const bytes = Buffer.from(value, "base64");
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, i) => bytes.readFloatLE(4 * i));
}
