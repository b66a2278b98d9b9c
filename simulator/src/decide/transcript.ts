import { seededRandom } from "@farmgate/shared";
import type { Body } from "./answer-plan.ts";
import { digestOf, seedOf } from "./digest.ts";
import { type EngineError, engineError } from "./engine-error.ts";
import type { EngineModel } from "./options.ts";
import { tokensOfBytes } from "./tokens.ts";
import { eventsPlan, type WholePlan } from "./whole-plan.ts";
import { wordTokens } from "./words.ts";

/** A file of a form, in the place of its bytes. */
export interface FormFile {
  name: string;
  /** Bytes. */
  size: number;
  digest: string;
}

/** Whether a member of a form's body is a file. */
export function isFormFile(value: unknown): value is FormFile {
  return typeof value === "object" && value !== null && "digest" in value && "size" in value;
}

/** Of sound at 24 kHz. */
const BYTES_PER_SECOND = 48_000;

/** `/v1/audio/transcriptions` and `/translations`: words that depend on model, task and the file's bytes alone. */
export function planTranscript(
  task: "transcribe" | "translate",
  body: Body,
  model: EngineModel,
): WholePlan | EngineError {
  if (model.kind !== "audio") return engineError(501, "This model does not listen");
  const { file } = body;
  if (!isFormFile(file)) return engineError(400, '"file" must be provided');
  const random = seededRandom(seedOf(digestOf(model.name, task, file.digest)));
  const pieces = wordTokens(5 + Math.floor(random() * 20), random);
  const text = pieces.join("");
  const promptTokens = tokensOfBytes(file.size);
  if (body["stream"] === "true" && task === "transcribe") {
    const deltas = pieces.map((delta) => ({ type: "transcript.text.delta", delta }));
    return eventsPlan(promptTokens, [...deltas, { type: "transcript.text.done", text }]);
  }
  switch (body["response_format"]) {
    case "text":
      return { promptTokens, contentType: "text/plain; charset=utf-8", body: `${text}\n` };
    case "verbose_json": {
      const duration = file.size / BYTES_PER_SECOND;
      const language = task === "transcribe" && typeof body["language"] === "string" ? body["language"] : "english";
      const segments = [{ id: 0, start: 0, end: duration, text }];
      return { promptTokens, body: JSON.stringify({ task, language, duration, text, segments }) };
    }
    default:
      return { promptTokens, body: JSON.stringify({ text }) };
  }
}
