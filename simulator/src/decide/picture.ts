import { seededRandom } from "@farmgate/shared";
import type { Body } from "./answer-plan.ts";
import { digestOf, seedOf } from "./digest.ts";
import { type EngineError, engineError } from "./engine-error.ts";
import type { EngineModel } from "./options.ts";
import { png } from "./png.ts";
import { tokensOf } from "./tokens.ts";
import { isFormFile } from "./transcript.ts";
import type { WholePlan } from "./whole-plan.ts";

const SIDE = 8;
const MOST_PICTURES = 10;

/** What is asked for: a picture of a prompt, one of a picture and a prompt, or one like another. */
export type PictureTask = "generations" | "edits" | "variations";

/** `/v1/images/*`: small PNGs that depend on model, task, prompt and the pictures sent along alone. */
export function planPictures(
  task: PictureTask,
  body: Body,
  created: number,
  model: EngineModel,
): WholePlan | EngineError {
  if (model.kind !== "image") return engineError(501, "This model does not draw");
  const prompt = typeof body["prompt"] === "string" ? body["prompt"] : "";
  const sent = Object.values(body).flat().filter(isFormFile);
  if (task !== "variations" && prompt === "") return engineError(400, '"prompt" must be provided');
  if (task !== "generations" && sent.length === 0) return engineError(400, '"image" must be provided');
  const count = Math.min(Math.max(1, Math.floor(Number(body["n"] ?? 1)) || 1), MOST_PICTURES);
  const digest = digestOf(model.name, task, prompt, ...sent.map((file) => file.digest));
  const data = Array.from({ length: count }, (_, i) => ({
    b64_json: png(SIDE, pixelsOf(digestOf(digest, String(i)))).toString("base64"),
  }));
  return { promptTokens: tokensOf(prompt), body: JSON.stringify({ created, data }) };
}

function pixelsOf(digest: string): Uint8Array {
  const random = seededRandom(seedOf(digest));
  return Uint8Array.from({ length: 3 * SIDE * SIDE }, () => Math.floor(random() * 256));
}
