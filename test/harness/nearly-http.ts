import * as fc from "fast-check";
import { damaged, pieceSizes } from "./damaged.ts";

/** What one caller does with a connection. */
export interface RawCaller {
  bytes: Buffer;
  /** Of the pieces in which it writes. */
  sizes: readonly number[];
  /** How it leaves: it waits for answers, ends its half at once, or breaks off. */
  leaves: "waits" | "half" | "breaks";
}

const NAMES = ["m", "nobody", "__proto__", "constructor", "a/b", "..", "", "m:latest", "M", "hf.co/m", "m@raw", "é"];
const ids = fc.oneof(
  fc.constantFrom(...NAMES),
  fc.constantFrom("%00", "%2e%2e", "%2F", "%zz", "%", "%ff", "%E0%A4%A", "a%2Fb", "x".repeat(10_000), "\u{1f600}"),
  fc.string({ maxLength: 12 }),
);
const method = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("POST", "GET") },
  fc.constantFrom(
    "HEAD",
    "PUT",
    "PATCH",
    "DELETE",
    "OPTIONS",
    "TRACE",
    "CONNECT",
    "QUERY",
    "PROPFIND",
    "M-SEARCH",
    "G",
  ),
);
const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant("") },
  fc.constantFrom("?", "?model=m", "?model=m&model=m", "?limit=1&after_id=m", "?limit=-1", "?lines=1e9", "?lines=5"),
  fc.webQueryParameters().map((text) => `?${text}`),
);
const word = fc.constantFrom("m", "nobody", "", "__proto__", "m:latest", "x".repeat(600));
const odd = fc.oneof(word, fc.jsonValue({ maxDepth: 2 }));

const jsonBody = fc
  .record(
    {
      model: fc.oneof({ weight: 6, arbitrary: fc.constant("m") }, odd),
      stream: fc.oneof(fc.boolean(), odd),
      messages: fc.oneof(fc.array(fc.record({ role: word, content: odd }), { maxLength: 3 }), odd),
      input: odd,
      prompt: odd,
      options: odd,
      tools: odd,
      api: odd,
      name: odd,
    },
    { requiredKeys: [] },
  )
  .map((value) => JSON.stringify(value));
const formBody = fc.array(fc.tuple(fc.constantFrom("model", "stream", "file"), word), { maxLength: 3 }).map((parts) => {
  const lines = parts.map(([name, value]) => {
    return `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  });
  return `${lines.join("")}--b--\r\n`;
});

const header = fc.oneof(
  fc.constantFrom(
    "Expect: 100-continue",
    "Connection: close",
    "Connection: keep-alive, x-farmgate-hop",
    "Connection: Upgrade\r\nUpgrade: websocket",
    "Upgrade: h2c",
    "Transfer-Encoding: gzip",
    "Content-Encoding: gzip",
    "x-farmgate-priority: batch",
    "x-farmgate-deadline-ms: 1",
    "x-farmgate-deadline-ms: -1",
    "x-farmgate-dry-run: 1",
    "x-farmgate-hop: 99999999999999999999",
    "via: 1.1 farmgate-000000000000",
    "x-request-id: mine",
    "Origin: http://localhost:3000",
    "Origin: null",
    "Authorization: Bearer x",
    "Authorization: Basic OjpAOg==",
    "anthropic-version: 2023-06-01",
    "Accept: text/html",
    "Accept-Encoding: gzip, br",
    "Range: bytes=0-1",
    "Cookie: a=b",
    `x-long: ${"l".repeat(9_000)}`,
  ),
  fc
    .tuple(fc.string({ minLength: 1, maxLength: 8 }), fc.string({ maxLength: 20 }))
    .map(([name, value]) => `${name}: ${value}`),
);

/** One request as it should be, mostly, at one of these paths; `{}` stands for a name. */
function request(paths: readonly string[]): fc.Arbitrary<string> {
  const path = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...paths) },
    fc.constantFrom("*", "//", "/..//", "http://x/livez", "ftp://x", "/%6civez", `/${"p".repeat(10_000)}`),
  );
  const body = fc.oneof(
    { weight: 4, arbitrary: jsonBody.map((text) => ({ text, type: "application/json" })) },
    formBody.map((text) => ({ text, type: "multipart/form-data; boundary=b" })),
    fc.constant({ text: "", type: "text/plain" }),
  );
  const headers = fc.oneof(
    { weight: 6, arbitrary: fc.array(header, { maxLength: 3 }) },
    fc.array(header, { maxLength: 120 }),
  );
  const length = fc.constantFrom("right", "right", "right", "chunked", "both", "short", "long", "none");
  return fc.tuple(method, path, ids, query, headers, body, length).map(([verb, at, id, more, lines, sent, told]) => {
    const target = at.replace("{}", () => id) + more;
    const size = Buffer.byteLength(sent.text);
    const announced = told === "short" ? Math.max(0, size - 3) : told === "long" ? size + 3 : size;
    const hasLength = told !== "chunked" && told !== "none" && (size > 0 || told === "long");
    const isChunked = told === "chunked" || told === "both";
    const head = [
      `${verb} ${target} HTTP/1.1`,
      "Host: x",
      ...(size > 0 ? [`Content-Type: ${sent.type}`] : []),
      ...lines,
      ...(hasLength ? [`Content-Length: ${announced}`] : []),
      ...(isChunked ? ["Transfer-Encoding: chunked"] : []),
    ];
    const text = isChunked ? `${size.toString(16)}\r\n${sent.text}\r\n0\r\n\r\n` : sent.text;
    return `${head.join("\r\n")}\r\n\r\n${text}`;
  });
}

/** Paths that a request for a model takes, with what it needs. */
const ASKED = {
  "/v1/chat/completions": { messages: [{ role: "user", content: "hi" }] },
  "/v1/completions": { prompt: "hi" },
  "/v1/embeddings": { input: ["a", "b"] },
  "/v1/responses": { input: "hi" },
  "/v1/messages": { messages: [{ role: "user", content: "hi" }], max_tokens: 5 },
  "/api/chat": { messages: [{ role: "user", content: "hi" }] },
  "/api/embed": { input: "hi" },
};

/** A request that is served, unless something happens to it. */
const goodRequest = fc
  .tuple(fc.constantFrom(...Object.entries(ASKED)), fc.option(fc.boolean()), fc.boolean())
  .map(([[path, fields], stream, chunked]) => {
    const body = JSON.stringify({ model: "m", ...fields, ...(stream === null ? {} : { stream }) });
    const length = chunked ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`;
    const sent = chunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
    return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${length}\r\n\r\n${sent}`;
  });

/** A caller's start of a WebSocket, and frames behind it. */
const webSocket = fc
  .tuple(
    fc.constantFrom("m", "m", "nobody", "", "m&model=m"),
    fc.oneof(fc.constant("dGhlIHNhbXBsZSBub25jZQ=="), fc.string({ maxLength: 30 })),
    fc.constantFrom("13", "13", "8", ""),
    fc.uint8Array({ maxLength: 60 }),
  )
  .map(([model, key, version, frames]) => {
    const head =
      `GET /v1/realtime?model=${model} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: ${version}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), Buffer.from(frames)]);
  });

/** Callers of every kind: with good requests, nearly good ones, several in a row, and no HTTP at all. */
export function rawCallers(paths: readonly string[]): fc.Arbitrary<RawCaller> {
  const either = fc.oneof(goodRequest, request(paths));
  const good = fc.array(either, { minLength: 1, maxLength: 4 }).map((all) => Buffer.from(all.join("")));
  const hints = [
    "\r\n\r\n",
    " HTTP/1.1\r\n",
    "chunked",
    "Content-Length: 5\r\n",
    "0\r\n\r\n",
    ": ",
    "{",
    "}",
    "\u0085",
  ];
  const bytes = fc.oneof(
    { weight: 4, arbitrary: good },
    { weight: 6, arbitrary: damaged(good, hints) },
    { weight: 1, arbitrary: webSocket },
    { weight: 2, arbitrary: damaged(webSocket, hints) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((random) => Buffer.from(random)) },
  );
  const leaves = fc.constantFrom("waits" as const, "waits" as const, "half" as const, "breaks" as const);
  return fc.record({ bytes, sizes: pieceSizes, leaves });
}
