import { describe, expect, it } from "vitest";
import { type ApiFamily, errorBody, errorHeaders, streamErrorChunk } from "../src/error-envelope.ts";
import { FarmError, isErrorCode } from "../src/errors.ts";

const notFound = new FarmError("model_not_found", "No model", { param: "model" });

describe("the body of an error", () => {
  it("has the shape of the API that was called", () => {
    expect(errorBody("openai", notFound, "r1")).toEqual({
      error: { message: "No model", type: "invalid_request_error", param: "model", code: "model_not_found" },
    });
    expect(errorBody("anthropic", notFound, "r1")).toEqual({
      type: "error",
      error: { type: "not_found_error", message: "No model" },
      request_id: "r1",
    });
    expect(errorBody("ollama", notFound, "r1")).toEqual({ error: "model not found: No model" });
  });

  it.each([
    ["invalid_request", 400, "invalid_request_error"],
    ["invalid_api_key", 401, "authentication_error"],
    ["model_not_allowed", 403, "permission_error"],
    ["body_too_large", 413, "request_too_large"],
    ["method_not_allowed", 405, "invalid_request_error"],
    ["rate_limited", 429, "rate_limit_error"],
    ["internal", 500, "api_error"],
    ["worker_failed", 502, "api_error"],
    ["queue_full", 503, "overloaded_error"],
    ["timeout_first_byte", 504, "timeout_error"],
  ] as const)("%s is %i, for Anthropic clients %s", (code, status, type) => {
    const error = new FarmError(code, "x");
    expect(error.status).toBe(status);
    expect(errorBody("anthropic", error, "r")).toMatchObject({ error: { type } });
  });
});

describe("the headers of an error", () => {
  it("tell when to come again, in whole seconds from 1", () => {
    const after = (retryAfterS: number) => errorHeaders(new FarmError("queue_full", "x", { retryAfterS }));
    expect(after(2.1)).toEqual({ "retry-after": "3" });
    expect(after(0)).toEqual({ "retry-after": "1" });
    expect(after(300)).toEqual({ "retry-after": "60" });
    expect(errorHeaders(new FarmError("no_worker", "x"))).toEqual({});
  });

  it("tell where coming again does not help", () => {
    expect(errorHeaders(new FarmError("deadline", "x"))).toEqual({ "x-should-retry": "false" });
    expect(errorHeaders(new FarmError("timeout_first_byte", "x"))).toEqual({ "x-should-retry": "false" });
    expect(errorHeaders(new FarmError("load_failed", "x", { retry: false }))).toEqual({ "x-should-retry": "false" });
    expect(errorHeaders(notFound)).toEqual({});
  });
});

describe("a break inside a stream", () => {
  const error = new FarmError("worker_failed", 'a "b"\nc');

  it.each<[ApiFamily, boolean, string]>([
    ["openai", true, "data: "],
    ["openai", false, "\n\ndata: "],
    ["anthropic", true, "event: error\ndata: "],
    ["anthropic", false, "\n\nevent: error\ndata: "],
    ["ollama", true, ""],
    ["ollama", false, "\n"],
  ])("is told to %s clients, between events: %s", (family, atBoundary, start) => {
    const chunk = streamErrorChunk(family, error, "r1", atBoundary);
    expect(chunk.startsWith(start)).toBe(true);
    const json = chunk.slice(start.length).trimEnd();
    expect(json).not.toContain("\n");
    expect(JSON.parse(json)).toEqual(errorBody(family, error, "r1"));
    expect(chunk.endsWith(family === "ollama" ? "}\n" : "}\n\n")).toBe(true);
  });
});

it("knows its codes and no others", () => {
  expect(isErrorCode("no_worker")).toBe(true);
  expect(["nope", "toString", "__proto__", "", null, 503].some(isErrorCode)).toBe(false);
});

it("keeps the cause of an error, for the log", () => {
  const cause = new Error("socket");
  expect(new FarmError("worker_failed", "x", { cause }).cause).toBe(cause);
  expect("cause" in new FarmError("worker_failed", "x")).toBe(false);
});
