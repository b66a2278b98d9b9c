import { describe, expect, it } from "vitest";
import { meaningFrom } from "../src/adapter-for.ts";

const coded = (code: string) => JSON.stringify({ error: { message: "x", type: "server_error", code } });

describe("what an answer means while the worker's engine is not known, or taken for a generic one", () => {
  it.each([
    ["a load that failed at an agent", 503, coded("load_failed"), "load_failed"],
    ["an agent's full queue", 503, coded("queue_full"), "busy"],
    ["a deadline that passed at an agent", 503, coded("deadline"), "client_fault"],
    ["a code that is none of ours", 503, coded("overloaded"), "busy"],
    ["a name that every object has", 503, coded("toString"), "busy"],
    ["no code", 503, "try again", "busy"],
    ["an OpenAI server's word for an unknown model", 400, coded("model_not_found"), "unknown_model"],
  ])("%s", (_, status, body, meaning) => {
    expect(meaningFrom(null, { status, body })).toBe(meaning);
    expect(meaningFrom("openai", { status, body })).toBe(meaning);
  });

  it("is its engine's own reading once that is known", () => {
    expect(meaningFrom("vllm", { status: 503, body: coded("load_failed") })).toBe("busy");
  });
});
