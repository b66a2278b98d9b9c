import { FarmError } from "@farmgate/shared";
import { listOf, objectOf, pick, textOf } from "../json-fields.ts";
import { neverStreams } from "../never-streams.ts";
import { type JsonObject, TranslationError, type Translator } from "../translation.ts";
import { refuseTold } from "../told-error.ts";
import { usageOf } from "./read-line.ts";

/** OpenAI's embeddings over Ollama's `/api/embed`. */
export const embeddingsToEmbed: Translator = (body, { model }) => {
  const inputs = inputsOf(body["input"]);
  const encode = encoderOf(body["encoding_format"]);
  return {
    api: "ollama-embed",
    body: { model, input: inputs, ...pick(body, { dimensions: "dimensions" }) },
    ...neverStreams((told) => {
      const answer = objectOf(told);
      refuseTold(answer);
      const vectors = listOf(answer["embeddings"]);
      if (vectors.length !== inputs.length) throw new TranslationError("an answer with another number of vectors");
      return embeddingList(vectors.map(encode), answer, model);
    }),
  };
};

/** The same over `/api/embeddings`, which is all that Ollama had before, and takes one text. */
export const embeddingsToOldEmbeddings: Translator = (body, { model }) => {
  const [prompt, ...more] = inputsOf(body["input"]);
  const encode = encoderOf(body["encoding_format"]);
  if (more.length > 0) throw refused("not_supported", "The workers with this model embed one text a request.");
  if (typeof body["dimensions"] === "number") {
    throw new FarmError("not_supported", "The workers with this model cannot shorten vectors.", {
      param: "dimensions",
    });
  }
  return {
    api: "ollama-embeddings",
    body: { model, prompt },
    ...neverStreams((told) => {
      const answer = objectOf(told);
      refuseTold(answer);
      return embeddingList([encode(answer["embedding"])], answer, model);
    }),
  };
};

function embeddingList(embeddings: readonly unknown[], answer: JsonObject, model: string): object {
  const data = embeddings.map((embedding, index) => ({ object: "embedding", index, embedding }));
  const { prompt_tokens, total_tokens } = usageOf(answer);
  return { object: "list", data, model: textOf(answer["model"]) || model, usage: { prompt_tokens, total_tokens } };
}

/** The texts to embed. An empty one is refused, as Ollama gives no vector for it. */
function inputsOf(input: unknown): string[] {
  const inputs: unknown[] = Array.isArray(input) ? input : [input];
  if (inputs.some((text) => Array.isArray(text) || typeof text === "number")) {
    throw refused("not_supported", "The workers with this model embed texts, no tokens.");
  }
  const texts = inputs.filter((text) => typeof text === "string" && text !== "") as string[];
  if (texts.length > 0 && texts.length === inputs.length) return texts;
  throw refused("invalid_request", '"input" must be a text or a list of texts, none of them empty.');
}

function refused(code: "invalid_request" | "not_supported", message: string): FarmError {
  return new FarmError(code, message, { param: "input" });
}

function encoderOf(format: unknown): (vector: unknown) => unknown {
  if (format === undefined || format === null || format === "float") return numbersOf;
  if (format === "base64") return (vector) => toBase64(numbersOf(vector));
  throw new FarmError("invalid_request", '"encoding_format" must be float or base64.', { param: "encoding_format" });
}

function numbersOf(vector: unknown): readonly number[] {
  if (Array.isArray(vector) && vector.every((value) => typeof value === "number")) return vector;
  throw new TranslationError("a vector that is no list of numbers");
}

/** 32-bit floats, little-endian, on every machine. */
function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, i) => bytes.writeFloatLE(value, i * 4));
  return bytes.toString("base64");
}
