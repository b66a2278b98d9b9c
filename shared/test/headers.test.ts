import { describe, expect, it } from "vitest";
import {
  answerHeadersForCaller,
  headerSafe,
  headerValue,
  requestHeadersForWorker,
  socketHeadersForWorker,
  takesMoreEvents,
} from "../src/headers.ts";

describe("what a worker sees of a caller's headers", () => {
  it("keeps order, spelling and repeated headers", () => {
    const raw = ["Content-Type", "application/json", "X-Thing", "1", "x-thing", "2", "anthropic-version", "2023-06-01"];
    expect(requestHeadersForWorker(raw)).toEqual(raw);
  });

  it.each([
    "Authorization",
    "X-API-Key",
    "Cookie",
    "HOST",
    "Content-Length",
    "Expect",
    "Accept-Encoding",
    "X-Request-Id",
    "Origin",
    "X-Conversation-Id",
    "X-Farmgate-Priority",
    "x-farmgate-anything",
    "Transfer-Encoding",
    "Keep-Alive",
    "Proxy-Authorization",
    "TE",
    "Trailer",
    "Upgrade",
  ])("leaves out %s", (name) => {
    expect(requestHeadersForWorker([name, "secret", "A", "b"])).toEqual(["A", "b"]);
  });

  it("leaves out what any Connection header names", () => {
    const raw = [
      "X-Hop",
      "1",
      "Connection",
      "close, x-hop",
      "connection",
      " X-Other ,",
      "x-other",
      "2",
      "X-Stays",
      "3",
    ];
    expect(requestHeadersForWorker(raw)).toEqual(["X-Stays", "3"]);
  });
});

describe("what a caller sees of a worker's headers", () => {
  it("keeps what describes the answer, and what tells a client to wait", () => {
    const raw = [
      "Content-Type",
      "application/json",
      "Content-Encoding",
      "gzip",
      "Retry-After",
      "3",
      "Server",
      "engine",
    ];
    expect(answerHeadersForCaller(raw)).toEqual(raw);
  });

  it.each([
    "Access-Control-Allow-Origin",
    "Set-Cookie",
    "X-Farmgate-Worker",
    "x-request-id",
    "Alt-Svc",
    "Connection",
    "Transfer-Encoding",
  ])("leaves out %s", (name) => {
    expect(answerHeadersForCaller([name, "x", "A", "b"])).toEqual(["A", "b"]);
  });

  it("is not told that it depends on the page, which is ours to say", () => {
    const told = (...values: string[]) => answerHeadersForCaller(values.flatMap((value) => ["Vary", value]));
    expect(told("Origin")).toEqual([]);
    expect(told("accept-encoding,  ORIGIN,Accept")).toEqual(["Vary", "accept-encoding, Accept"]);
    expect(told("origin", "Accept-Encoding,x", "Origin")).toEqual(["Vary", "Accept-Encoding,x"]);
  });

  it("stops buffers in front of a stream of events, which keeps what it says of that itself", () => {
    const raw = ["Content-Type", "Text/Event-Stream; charset=utf-8", "Cache-Control", "no-store"];
    const headers = answerHeadersForCaller(raw);
    expect(headers).toEqual([...raw, "x-accel-buffering", "no"]);
    expect(headerValue(answerHeadersForCaller(raw.slice(0, 2)), "cache-control")).toBe("no-cache, no-transform");
    expect(answerHeadersForCaller([...raw, "X-Accel-Buffering", "yes"])).toEqual([...raw, "X-Accel-Buffering", "yes"]);
    const lines = answerHeadersForCaller(["Content-Type", "application/x-ndjson"]);
    expect(lines.slice(2)).toEqual(["cache-control", "no-cache, no-transform", "x-accel-buffering", "no"]);
  });
});

describe("a stream that an event can be added to", () => {
  const stream = ["Content-Type", "text/event-stream"];
  it.each([
    [stream, true],
    [[...stream, "Content-Encoding", "identity"], true],
    [[...stream, "Content-Length", "10"], false],
    [[...stream, "Content-Encoding", "gzip"], false],
    [["Content-Type", "application/json"], false],
  ])("%j: %s", (raw, takes) => {
    expect(takesMoreEvents(raw)).toBe(takes);
  });
});

describe("a name in a header", () => {
  it.each([
    ["gpu box 1", "gpu box 1"],
    ["größe\n", "gr%C3%B6%C3%9Fe%0A"],
    ["\ud800", "%EF%BF%BD"],
  ])("%j is told as %s", (name, told) => {
    expect(headerSafe(name)).toBe(told);
  });
});

describe("what a worker sees of a request for a WebSocket", () => {
  it("is all of it but the key among the protocols", () => {
    const raw = ["Sec-WebSocket-Key", "k", "Sec-WebSocket-Protocol", "realtime, openai-insecure-api-key.K , other"];
    expect(socketHeadersForWorker([...raw, "Connection", "Upgrade", "Upgrade", "websocket", "Host", "x"])).toEqual([
      "Sec-WebSocket-Key",
      "k",
      "Sec-WebSocket-Protocol",
      "realtime, other",
    ]);
    expect(socketHeadersForWorker(["sec-websocket-protocol", "openai-insecure-api-key.K"])).toEqual([]);
  });
});
