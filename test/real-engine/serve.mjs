// A thin OpenAI-compatible server over one GGUF file: node serve.mjs --model FILE --name NAME --port N
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { loadModel, PromptTooLong } from "./model.mjs";
import { answers, BadRequest, errorBody, LOADING, readRequest } from "./wire.mjs";

const BODY_LIMIT = 1024 * 1024;

const { model: path, name, port } = readArguments();
const created = Math.floor(Date.now() / 1000);
/** @type {Awaited<ReturnType<typeof loadModel>> | undefined} */
let model;
let stopping = false;

const server = createServer((request, response) => {
  handle(request, response).catch((error) => fail(response, error));
});
// Longer than any client keeps an idle connection, so that this side never closes one that is about to be used.
server.keepAliveTimeout = 120_000;
server.on("error", (error) => {
  log("listen-failed", { error: error.message });
  process.exit(1);
});
server.listen(port, "127.0.0.1", () => log("listening", { port }));
// `on`, not `once`: a library that sees no listener left for a signal sends it again, which ends the process at once.
process.on("SIGTERM", stop);
process.on("SIGINT", stop);

const started = performance.now();
try {
  model = await loadModel(path);
  log("ready", { ms: Math.round(performance.now() - started), context: model.contextSize });
} catch (error) {
  log("load-failed", { error: String(error) });
  process.exit(1);
}

/** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
async function handle(request, response) {
  const target = `${request.method} ${request.url?.split("?", 1)[0]}`;
  if (!model) {
    request.resume();
    return json(response, 503, LOADING);
  }
  if (target === "GET /health") return json(response, 200, { status: "ok" });
  if (target === "GET /v1/models") return json(response, 200, { object: "list", data: [modelEntry(model)] });
  if (target === "POST /v1/chat/completions") return infer(model, true, request, response);
  if (target === "POST /v1/completions") return infer(model, false, request, response);
  request.resume();
  json(response, 404, errorBody(404, "not_found_error", `no such path: ${target}`));
}

/**
 * @param {Awaited<ReturnType<typeof loadModel>>} engine @param {boolean} chat
 * @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response
 */
async function infer(engine, chat, request, response) {
  const caller = new AbortController();
  response.once("close", () => caller.abort());
  const ask = readRequest(await readBody(request), chat, name);
  const answer = answers(chat, `${chat ? "chatcmpl" : "cmpl"}-${randomUUID()}`, name);

  /** @param {object | undefined} event */
  const send = (event) => {
    if (event === undefined || response.destroyed) return;
    if (!response.headersSent) {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
      const opening = answer.opening();
      if (opening) response.write(`data: ${JSON.stringify(opening)}\n\n`);
    }
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  };
  const outcome = await engine.generate({
    ...ask,
    signal: caller.signal,
    onText: (text) => ask.stream && send(answer.piece(text)),
  });
  log("answered", { chat, stream: ask.stream, finish: outcome.finish, tokens: outcome.tokens });
  if (outcome.finish === "cancelled") return;
  if (!ask.stream) return json(response, 200, answer.whole(outcome));
  send(answer.closing(outcome));
  if (ask.usage) send(answer.usage(outcome));
  response.end("data: [DONE]\n\n");
}

/** @param {import("node:http").IncomingMessage} request */
async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= BODY_LIMIT) chunks.push(chunk);
  }
  if (size > BODY_LIMIT) throw new BadRequest(`the body is larger than ${BODY_LIMIT} bytes`, 413);
  return Buffer.concat(chunks);
}

/** @param {import("node:http").ServerResponse} response @param {unknown} error */
function fail(response, error) {
  if (response.destroyed) return;
  if (response.headersSent) {
    log("broke", { error: String(error) });
    response.destroy();
  } else if (error instanceof BadRequest) {
    json(response, error.status, errorBody(error.status, error.type, error.message, error.more));
  } else if (error instanceof PromptTooLong) {
    const sizes = { n_prompt_tokens: error.promptTokens, n_ctx: error.contextSize };
    json(response, 400, errorBody(400, "exceed_context_size_error", error.message, sizes));
  } else {
    log("failed", { error: String(error) });
    json(response, 500, errorBody(500, "server_error", "the model could not answer"));
  }
}

/** @param {{ contextSize: number }} loaded */
function modelEntry(loaded) {
  return { id: name, object: "model", created, owned_by: "llamacpp", meta: { n_ctx: loaded.contextSize } };
}

/** @param {import("node:http").ServerResponse} response @param {number} status @param {object} body */
function json(response, status, body) {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", "content-length": bytes.length });
  response.end(bytes);
}

/** Ends every connection, which cancels what runs on them, lets go of the model and leaves. */
async function stop() {
  if (stopping) return;
  stopping = true;
  log("stopping");
  setTimeout(() => process.exit(0), 3000).unref();
  server.close();
  server.closeAllConnections();
  await model?.dispose();
  process.exit(0);
}

/** @param {string} event @param {object} [more] */
function log(event, more = {}) {
  console.log(JSON.stringify({ time: new Date().toISOString(), model: name, event, ...more }));
}

function readArguments() {
  const usage = "usage: node serve.mjs --model FILE --name NAME --port N";
  try {
    const text = /** @type {const} */ ({ type: "string" });
    const { values } = parseArgs({ options: { model: text, name: text, port: text } });
    if (values.model && values.name && Number.isInteger(Number(values.port)))
      return { model: values.model, name: values.name, port: Number(values.port) };
    console.error(usage);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${usage}`);
  }
  process.exit(2);
}
