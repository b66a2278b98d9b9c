import { describe, expect, it } from "vitest";
import { toldFault } from "../../src/proxy/told-fault.ts";

const openai = { error: { message: "too long", type: "invalid_request_error", code: "context_length_exceeded", n: 9 } };
const anthropic = { type: "error", error: { type: "invalid_request_error", message: "too long" }, request_id: "r0" };

describe("a worker's word that the caller is at fault", () => {
  it("is told as it is when it has the shape of the caller's API", () => {
    expect(toldFault("openai", 400, JSON.stringify(openai), "r1")).toEqual(openai);
    expect(toldFault("anthropic", 400, JSON.stringify(anthropic), "r1")).toEqual(anthropic);
  });

  it("is put into the shape of the caller's API when it has another", () => {
    expect(toldFault("anthropic", 400, JSON.stringify(openai), "r1")).toEqual({
      type: "error",
      error: { type: "invalid_request_error", message: "too long" },
      request_id: "r1",
    });
    expect(toldFault("openai", 400, '{"error":"no such thing"}', "r1")).toEqual({
      error: { message: "no such thing", type: "invalid_request_error", param: null, code: "invalid_request" },
    });
    expect(
      toldFault("openai", 400, '{"object":"error","message":"bad","type":"BadRequestError","code":40}', "r1"),
    ).toEqual({ error: { message: "bad", type: "BadRequestError", param: null, code: "40" } });
  });

  it.each(["", "[1", "null"])("has words of its own where the body %j says nothing", (body) => {
    expect(JSON.stringify(toldFault("openai", 422, body, "r1"))).toMatch(
      /"message":"(The worker refused .* 422\.|\[1|null)"/,
    );
  });
});
