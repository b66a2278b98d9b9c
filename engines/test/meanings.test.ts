import { describe, expect, it } from "vitest";
import { adapterFor } from "../src/adapter-for.ts";
import type { EngineName } from "../src/catalog.ts";
import type { AnswerMeaning } from "../src/meaning.ts";
import { recordedAnswer } from "./recorded-answer.ts";

const object = (message: string, type = "server_error") => ({ error: { message, type, code: null } });
const ollamaBusy = "server busy, please try again.  maximum pending requests exceeded";
const koboldBusy = { msg: "Server is busy; please try again later.", type: "service_unavailable" };

describe("what an engine's answer means", () => {
  it.each<[EngineName, number, unknown, AnswerMeaning]>([
    ["localai", 404, object('model "x" not found'), "unknown_model"],
    ["localai", 500, object("could not load model - all backends returned error"), "load_failed"],
    ["localai", 500, object("failed to load model with internal loader"), "load_failed"],
    ["localai", 400, object("invalid request"), "client_fault"],
    ["localai", 500, object("rpc error: code = Unavailable"), "worker_fault"],
    ["lemonade", 404, object("Model not found: x", "invalid_request_error"), "unknown_model"],
    ["lemonade", 500, object("Failed to load model x: llama-server failed to start"), "load_failed"],
    ["lemonade", 500, object("backend died"), "worker_fault"],
    ["sglang", 400, { object: "error", message: "The input is longer than the context", code: 400 }, "client_fault"],
    ["sglang", 503, "", "busy"],
    ["tgi", 429, { error: "Model is overloaded", error_type: "overloaded" }, "busy"],
    ["tgi", 422, { error: "`inputs` must have less than 4095 tokens", error_type: "validation" }, "client_fault"],
    ["tgi", 424, { error: "Request failed during generation", error_type: "generation" }, "worker_fault"],
    ["tgi", 500, { error: "Incomplete generation", error_type: "incomplete_generation" }, "worker_fault"],
    ["tgi", 503, { error: "unhealthy", error_type: "healthcheck" }, "worker_fault"],
    ["koboldcpp", 503, { detail: koboldBusy }, "busy"],
    ["koboldcpp", 404, { detail: { error: "Not found" } }, "unknown_model"],
    ["whisper", 503, { status: "loading model" }, "loading"],
    ["whisper", 400, { error: "no 'file' field in the request" }, "client_fault"],
    ["whisper", 500, "failed to process audio", "worker_fault"],
    ["jano", 400, { error: 'unknown model "x"', accepted: ["chat", "code"] }, "unknown_model"],
    ["jano", 400, { error: "invalid JSON body" }, "client_fault"],
    ["jano", 404, { error: "no route for POST /v1/embeddings" }, "unknown_model"],
    ["jano", 502, { error: "upstream failed", detail: "Error: other side closed" }, "worker_fault"],
    ["jano", 503, { error: 'swap to "code" failed: Error: not ready' }, "load_failed"],
    ["jano", 503, { error: 'backend "code" is unavailable (3 consecutive swap failures)' }, "load_failed"],
    ["jano", 503, object("Loading model", "unavailable_error"), "loading"],
    ["mlx", 404, { error: "No safetensors found" }, "unknown_model"],
    ["mlx", 400, { error: "Invalid JSON in request body" }, "client_fault"],
    ["mlx", 411, { error: "Content-Length header is required" }, "client_fault"],
    ["ollama", 503, { error: ollamaBusy }, "busy"],
  ])("%s: %i %j is %s", (engine, status, body, meaning) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    expect(adapterFor(engine).meaning({ status, body: text })).toBe(meaning);
  });

  it("is a llama-server's own behind Jano", () => {
    expect(adapterFor("jano").meaning(recordedAnswer("single-err-badjson"))).toBe("client_fault");
    expect(adapterFor("jano").meaning(recordedAnswer("loading-models"))).toBe("loading");
  });
});
