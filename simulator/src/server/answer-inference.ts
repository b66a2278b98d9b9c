import { type Body, countPrompt, planAnswer, type TextApi } from "../decide/answer-plan.ts";
import { type EngineError, engineError, isEngineError, LOADING } from "../decide/engine-error.ts";
import type { Ailments } from "../decide/fail-plan.ts";
import type { EngineModel } from "../decide/options.ts";
import { planPictures } from "../decide/picture.ts";
import { planSpeech } from "../decide/sound.ts";
import { planTemplate, planText, planTokens } from "../decide/tokenizer.ts";
import { planTranscript } from "../decide/transcript.ts";
import { planEmbeddings, planRerank } from "../decide/vectors.ts";
import type { WholePlan } from "../decide/whole-plan.ts";
import type { EngineParts } from "./engine-parts.ts";
import { serveText, serveWhole } from "./serve-inference.ts";
import type { Visit } from "./visit.ts";

/** A question that is answered as a whole, once a slot is free. */
type WholePlanner = (body: Body, model: EngineModel, created: number) => WholePlan | EngineError;
/** One that needs no slot. */
type InstantPlanner = (body: Body) => object | EngineError;

const TEXT: Readonly<Record<string, TextApi>> = {
  "/v1/chat/completions": "chat",
  "/chat/completions": "chat",
  "/v1/completions": "completions",
  "/v1/responses": "responses",
  "/responses": "responses",
  "/v1/messages": "messages",
  "/completion": "completion",
  "/infill": "infill",
};

const WHOLE: Readonly<Record<string, WholePlanner>> = {
  "/v1/embeddings": planEmbeddings,
  "/v1/rerank": planRerank,
  "/v1/reranking": planRerank,
  "/rerank": planRerank,
  "/reranking": planRerank,
  "/v1/audio/speech": planSpeech,
  "/v1/audio/transcriptions": (body, model) => planTranscript("transcribe", body, model),
  "/v1/audio/translations": (body, model) => planTranscript("translate", body, model),
  "/inference": (body, model) => planTranscript(body["translate"] === "true" ? "translate" : "transcribe", body, model),
  "/v1/images/generations": (body, model, created) => planPictures("generations", body, created, model),
  "/v1/images/edits": (body, model, created) => planPictures("edits", body, created, model),
  "/v1/images/variations": (body, model, created) => planPictures("variations", body, created, model),
};

const INSTANT: Readonly<Record<string, InstantPlanner>> = {
  "/v1/messages/count_tokens": countTokens,
  "/tokenize": planTokens,
  "/detokenize": planText,
  "/apply-template": planTemplate,
};

/** Whether something is inferred at this path. */
export function isInference(path: string): boolean {
  return path in TEXT || path in WHOLE || path in INSTANT;
}

export function answerInference(engine: EngineParts, visit: Visit, body: Body): void {
  const model = modelOf(engine, body["model"]);
  if (isEngineError(model)) return visit.writer().error(model);
  const ailments = engine.fails().forInference(model.name);
  if (ailments.hang) return visit.onLeft(() => engine.journal.write("left", model.name, visit.id));
  const error = errorOf(ailments);
  if (error !== null) return visit.writer(ailments.resetAfter).error(error);
  const text = TEXT[visit.path];
  const whole = WHOLE[visit.path];
  if (text !== undefined) {
    const plan = planAnswer(text, body, model);
    return isEngineError(plan) ? visit.writer().error(plan) : serveText(engine, visit, plan, ailments);
  }
  if (whole !== undefined) {
    const plan = whole(body, model, Math.floor(engine.clock.wall() / 1_000));
    return isEngineError(plan) ? visit.writer().error(plan) : serveWhole(engine, visit, model.name, plan, ailments);
  }
  const told = INSTANT[visit.path]?.(body) ?? {};
  if (isEngineError(told)) visit.writer().error(told);
  else visit.writer().json(200, JSON.stringify(told));
}

/** A router looks the name up; a single-model engine serves its own model under any name. */
export function modelOf(engine: EngineParts, name: unknown): EngineModel | EngineError {
  if (!engine.options.single && (typeof name !== "string" || name === "")) {
    return engineError(400, "model name is missing from the request");
  }
  return engine.modelNamed(String(name)) ?? engineError(400, `model '${String(name)}' not found`);
}

export function errorOf(ailments: Ailments): EngineError | null {
  if (ailments.loading) return LOADING;
  return ailments.status === null ? null : engineError(ailments.status, "simulated failure");
}

function countTokens(body: Body): object {
  const tokens = countPrompt("messages", body);
  return typeof tokens === "number" ? { input_tokens: tokens } : tokens;
}
