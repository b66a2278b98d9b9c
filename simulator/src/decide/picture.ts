import { crc32, deflateSync } from "node:zlib";
import { seededRandom } from "@farmgate/shared";
import type { Body } from "./answer-plan.ts";
import { digestOf, seedOf } from "./digest.ts";
import { type EngineError, engineError } from "./engine-error.ts";
import type { EngineModel } from "./options.ts";
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
  const prompt = String(body["prompt"] ?? "");
  const sent = Object.values(body).flat().filter(isFormFile);
  if (task !== "variations" && prompt === "") return engineError(400, '"prompt" must be provided');
  if (task !== "generations" && sent.length === 0) return engineError(400, '"image" must be provided');
  const count = Math.min(Math.max(1, Math.floor(Number(body["n"] ?? 1)) || 1), MOST_PICTURES);
  const digest = digestOf(model.name, task, prompt, ...sent.map((file) => file.digest));
  const data = Array.from({ length: count }, (_, i) => ({
    b64_json: png(digestOf(digest, String(i))).toString("base64"),
  }));
  return { promptTokens: tokensOf(prompt), body: JSON.stringify({ created, data }) };
}

function png(digest: string): Buffer {
  const random = seededRandom(seedOf(digest));
  // Each line begins with the byte that says that it is not filtered.
  const lines = Buffer.alloc(SIDE * (1 + 3 * SIDE));
  for (let at = 0; at < lines.length; at += 1) lines[at] = at % (1 + 3 * SIDE) === 0 ? 0 : Math.floor(random() * 256);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  // Eight bits for each of red, green and blue.
  header.set([8, 2], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(lines)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const piece = Buffer.alloc(named.length + 8);
  piece.writeUInt32BE(data.length, 0);
  named.copy(piece, 4);
  piece.writeUInt32BE(crc32(named), piece.length - 4);
  return piece;
}
