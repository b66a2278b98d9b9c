// A worker that misbehaves: it lists models as vLLM does, answers as the simulated engines do, and breaks a share of
// what it is asked. Arguments: port, seed, share (0 to 1), events a second.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "@farmgate/shared";
import { floodPieces, piecesOf } from "../load/expected.ts";
import { type Misdeed, misdeedFor } from "./misdeeds.ts";

interface Body {
  model: string;
  messages: { content: string }[];
  stream?: boolean;
  max_tokens?: number;
}

const [port = 0, seed = 1, share = 0.1, perSecond = 10] = process.argv.slice(2).map(Number);
const random = seededRandom(seed);
const done: Partial<Record<Misdeed | "served", number>> = {};
const models = ["chat", "lone", "flood"].map((id) => ({ id, object: "model", owned_by: "vllm", root: id }));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === "GET") {
    if (request.url === "/misdeeds") return json(response, 200, done);
    return request.url === "/v1/models"
      ? json(response, 200, { object: "list", data: models })
      : json(response, 404, {});
  }
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  if (request.url !== "/v1/chat/completions") return json(response, 404, { detail: "Not Found" });
  const body = JSON.parse(Buffer.concat(pieces).toString()) as Body;
  const misdeed = misdeedFor(random, share);
  done[misdeed ?? "served"] = (done[misdeed ?? "served"] ?? 0) + 1;
  if (!breaksAtOnce(misdeed, request, response)) await (body.stream === true ? stream : whole)(body, misdeed, response);
}

/** True: there is nothing more to do. */
function breaksAtOnce(misdeed: Misdeed | null, { socket }: IncomingMessage, response: ServerResponse): boolean {
  if (misdeed === "stall") return true;
  if (misdeed === "reset") socket.resetAndDestroy();
  else if (misdeed === "garbage") socket.end("\u0000\u0001 this is no answer \r\n\r\n{}");
  else if (misdeed === "error 500")
    json(response, 500, { error: { message: "out of luck", type: "InternalServerError" } });
  else if (misdeed === "busy 503") {
    response.setHeader("retry-after", "1");
    json(response, 503, { error: { message: "busy", type: "ServiceUnavailable" } });
  } else return false;
  return true;
}

async function stream(body: Body, misdeed: Misdeed | null, response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const isFlood = body.model === "flood";
  const all = isFlood
    ? [...floodPieces(promptOf(body).split(":")[0] ?? "")]
    : piecesOf(body.model, promptOf(body), body.max_tokens ?? 0);
  const breakAt = Math.floor(random() * all.length);
  for (const [i, content] of all.entries()) {
    if (response.destroyed) return;
    if (i === breakAt && breaksInside(misdeed, response)) return;
    const isLast = i === all.length - 1;
    const choice = { index: 0, delta: { content }, finish_reason: isLast ? "length" : null };
    const isFree = response.write(
      `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", model: body.model, choices: [choice] })}\n\n`,
    );
    if (!isFlood) await sleep((misdeed === "slow" ? 3_000 : 1_000) / perSecond);
    else if (!isFree) await readyAgain(response);
  }
  response.end("data: [DONE]\n\n");
}

function readyAgain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off("drain", go).off("close", go);
      resolve();
    };
    response.on("drain", go).on("close", go);
  });
}

async function whole(body: Body, misdeed: Misdeed | null, response: ServerResponse): Promise<void> {
  const pieces = piecesOf(body.model, promptOf(body), body.max_tokens ?? 0);
  await sleep((pieces.length * (misdeed === "slow" ? 3_000 : 1_000)) / perSecond);
  const message = { role: "assistant", content: pieces.join("") };
  const choices = [{ index: 0, message, finish_reason: "length" }];
  const text = Buffer.from(JSON.stringify({ id: "x", object: "chat.completion", model: body.model, choices }));
  if (response.destroyed) return;
  if (misdeed === null || misdeed === "slow") return json(response, 200, text);
  response.writeHead(200, { "content-type": "application/json", "content-length": text.length + 10 });
  response.write(text.subarray(0, misdeed === "wrong length" ? text.length : text.length / 2), () => {
    breaksInside(misdeed, response);
  });
}

function breaksInside(misdeed: Misdeed | null, response: ServerResponse): boolean {
  if (misdeed === null || misdeed === "slow") return false;
  if (misdeed === "reset inside") response.socket?.resetAndDestroy();
  else if (misdeed !== "stall inside") response.socket?.end();
  return true;
}

function promptOf({ messages }: Body): string {
  return messages[0]?.content ?? "";
}

function json(response: ServerResponse, status: number, body: object): void {
  const text = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  response.writeHead(status, { "content-type": "application/json", "content-length": text.length });
  response.end(text);
}

const server = createServer((request, response) => {
  response.on("error", () => {});
  answer(request, response).catch(() => response.destroy());
});
// Idle sockets are closed early, so that requests meet them.
server.keepAliveTimeout = 1_000;
server.listen(port, "127.0.0.1");
process.once("disconnect", () => process.exit(0));
