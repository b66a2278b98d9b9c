import type { Body } from "./answer-plan.ts";
import { chatPrompt } from "./prompt.ts";
import { type EngineError, engineError } from "./engine-error.ts";

/** A token is up to three bytes of the text, so that its id can hold them and how many they are. */
const BYTES = 3;

/** `/tokenize`: ids of the text's pieces, which `/detokenize` can read back. */
export function planTokens(body: Body): object {
  const bytes = Buffer.from(typeof body["content"] === "string" ? body["content"] : "");
  const tokens: number[] = [];
  for (let at = 0; at < bytes.length; at += BYTES) {
    const piece = bytes.subarray(at, at + BYTES);
    tokens.push((piece.length << 24) | piece.readUIntBE(0, piece.length));
  }
  if (body["with_pieces"] !== true) return { tokens };
  return { tokens: tokens.map((id) => ({ id, piece: pieceOf(bytesOf(id)) })) };
}

/** `/detokenize` */
export function planText(body: Body): object | EngineError {
  const { tokens } = body;
  if (!Array.isArray(tokens)) return engineError(400, '"tokens" must be provided');
  const known = tokens.filter((id) => typeof id === "number" && id >>> 24 >= 1 && id >>> 24 <= BYTES);
  return { content: Buffer.concat(known.map((id: number) => bytesOf(id))).toString() };
}

/** `/apply-template` */
export function planTemplate(body: Body): object | EngineError {
  if (!Array.isArray(body["messages"])) return engineError(400, "'messages' is required");
  return { prompt: chatPrompt(body["messages"], body["tools"]) };
}

function bytesOf(id: number): Buffer {
  const length = id >>> 24;
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(id & (2 ** (8 * length) - 1), 0, length);
  return bytes;
}

/** What is no whole letter is told as its bytes. */
function pieceOf(bytes: Buffer): string | number[] {
  const text = bytes.toString();
  return text.includes("\ufffd") ? [...bytes] : text;
}
