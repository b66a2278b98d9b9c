// A bare relay with what the hot path needs and nothing else: `node:http` in
// front, undici's `Pool.dispatch` behind. It stands in for the gateway in the
// bench and shows what the gateway's own work costs above it.
//
//   node prototype.mjs PORT UPSTREAM
import { createServer } from "node:http";
import { Pool } from "undici";

const [port, upstream] = process.argv.slice(2);
const pool = new Pool(upstream, { connections: null, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });

const hopByHop = ["connection", "keep-alive", "proxy-authenticate", "te", "trailer", "transfer-encoding", "upgrade"];
const droppedFromAnswer = new Set(hopByHop);
const droppedFromRequest = new Set([
  ...hopByHop,
  "proxy-authorization",
  "host",
  "content-length",
  "expect",
  "authorization",
  "x-api-key",
]);

function requestHeaders(raw) {
  const kept = [];
  for (let i = 0; i < raw.length; i += 2) {
    if (!droppedFromRequest.has(raw[i].toLowerCase())) kept.push(raw[i], raw[i + 1]);
  }
  return kept;
}

function answerHeaders(raw) {
  const kept = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i].latin1Slice();
    if (!droppedFromAnswer.has(name.toLowerCase())) kept.push(name, raw[i + 1].latin1Slice());
  }
  return kept;
}

/** One try at one upstream; undici calls it back, the caller's leaving ends it in any phase. */
class Attempt {
  #response;
  #controller = null;
  #left = false;

  constructor(response) {
    this.#response = response;
    response.once("close", () => this.#close());
    response.on("drain", () => this.#controller.resume());
  }

  #close() {
    this.#left = true;
    if (!this.#response.writableFinished) this.#controller?.abort(new Error("the caller left"));
  }

  onRequestStart(controller) {
    this.#controller = controller;
    if (this.#left) controller.abort(new Error("the caller left"));
  }

  onResponseStart(controller, status) {
    if (status >= 200) this.#response.writeHead(status, answerHeaders(controller.rawHeaders));
  }

  onResponseData(controller, chunk) {
    if (!this.#response.write(chunk)) controller.pause();
  }

  onResponseEnd() {
    this.#response.end();
  }

  onResponseError() {
    if (this.#left) return;
    if (this.#response.headersSent) this.#response.destroy();
    else this.#response.writeHead(502).end();
  }
}

const server = createServer({ requestTimeout: 0, keepAliveTimeout: 75_000, noDelay: true }, (request, response) => {
  if (request.url === "/livez") {
    response.end("ok");
    return;
  }
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    const body = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    const headers = requestHeaders(request.rawHeaders);
    const options = { method: request.method, path: request.url, headers, body: body.length > 0 ? body : null };
    pool.dispatch(options, new Attempt(response));
  });
});

server.listen(Number(port), "127.0.0.1", 4096, () => process.send?.({ port: server.address().port }));
process.once("SIGTERM", () => process.exit(0));
