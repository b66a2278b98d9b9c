import { createHash } from "node:crypto";
import { type Random, seededRandom } from "@farmgate/shared";

/** What a request asks for: its answer is a pure function of this. */
export interface Asked {
  /** Unlike any other request's; the answer says it again and again. */
  nonce: string;
  model: string;
  streamed: boolean;
  /** Events of a stream; a whole answer is as long. */
  pieces: number;
}

/** What is drawn at one request comes of its nonce, so that it does not hang on who came first. */
export function chanceOf({ nonce }: Asked): Random {
  return seededRandom(Number.parseInt(nonce.slice(0, 8), 16));
}

/** The request's body, as it is sent. */
export function requestBody({ nonce, model, streamed, pieces }: Asked): string {
  return JSON.stringify({ model, stream: streamed, messages: [{ role: "user", content: `${nonce} ${pieces}` }] });
}

/** What a worker reads of it; null: it is no request of this harness. */
export function readAsked(body: string): Asked | null {
  const found = /"content":"([0-9a-f]+) (\d+)"/.exec(body);
  const model = /"model":"([^"]+)"/.exec(body)?.[1];
  if (found === null || model === undefined) return null;
  const [, nonce = "", pieces] = found;
  return { nonce, model, streamed: body.includes('"stream":true'), pieces: Number(pieces) };
}

/** The answer's body as every good worker gives it, byte for byte. */
export function answerBody(asked: Asked): Buffer {
  const texts = Array.from({ length: asked.pieces }, (_, i) => text(asked.nonce, i));
  return Buffer.from(asked.streamed ? eventsOf(asked, texts) : wholeOf(asked, texts));
}

/** A good answer as HTTP. A stream's chunks end inside events now and then, by the nonce. */
export function answerBytes(asked: Asked): { head: Buffer; chunks: Buffer[]; end: Buffer } {
  const body = answerBody(asked);
  if (!asked.streamed) {
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    return { head: Buffer.from(head), chunks: [body], end: Buffer.alloc(0) };
  }
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  const random = chanceOf(asked);
  return { head: Buffer.from(head), chunks: chunksOf(body, random), end: Buffer.from("0\r\n\r\n") };
}

function chunksOf(body: Buffer, random: Random): Buffer[] {
  const chunks: Buffer[] = [];
  for (let from = 0; from < body.length; ) {
    const blank = body.indexOf("\n\n", from);
    const end = blank < 0 ? body.length : blank + 2;
    const to = random() < 0.3 ? from + Math.max(1, Math.floor((end - from) / 2)) : end;
    const piece = body.subarray(from, to);
    chunks.push(Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]));
    from = to;
  }
  return chunks;
}

function text(nonce: string, i: number): string {
  const hash = createHash("sha256").update(`${nonce} ${i}`).digest("base64");
  return `${nonce}.${i} ${hash.repeat(1 + (i % 3))} `;
}

function eventsOf(asked: Asked, texts: readonly string[]): string {
  const event = (delta: object, finish: string | null) => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    return `data: ${JSON.stringify({ id: asked.nonce, object: "chat.completion.chunk", model: asked.model, choices })}\n\n`;
  };
  const pieces = texts.map((content) => event({ content }, null));
  return [event({ role: "assistant" }, null), ...pieces, event({}, "stop"), "data: [DONE]\n\n"].join("");
}

function wholeOf(asked: Asked, texts: readonly string[]): string {
  const message = { role: "assistant", content: texts.join("") };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return JSON.stringify({ id: asked.nonce, object: "chat.completion", model: asked.model, choices });
}
