import { describe, expect, it } from "vitest";
import { givenRequestId, wishesOf } from "../src/index.ts";

describe("a caller's wishes", () => {
  it("are none unless said", () => {
    expect(wishesOf({})).toEqual({ priority: null, deadlineMs: null });
    expect(wishesOf({ "x-farmgate-priority": "batch", "x-farmgate-deadline-ms": "1500" })).toEqual({
      priority: "batch",
      deadlineMs: 1_500,
    });
  });

  it.each([
    ["x-farmgate-priority", "urgent"],
    ["x-farmgate-priority", ""],
    ["x-farmgate-priority", "batch, batch"],
    ["x-farmgate-deadline-ms", "soon"],
    ["x-farmgate-deadline-ms", "-1"],
    ["x-farmgate-deadline-ms", "1.5"],
    ["x-farmgate-deadline-ms", "12345678901"],
  ])("are refused when they make no sense: %s: %s", (name, value) => {
    expect(() => wishesOf({ [name]: value })).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });
});

describe("the id that a request brings along", () => {
  it.each([
    ["req_1:a.b-c", "req_1:a.b-c"],
    ["a".repeat(128), "a".repeat(128)],
    ["a".repeat(129), null],
    ["two words", null],
    ["", null],
    [undefined, null],
  ])("%j is %j", (given, id) => {
    expect(givenRequestId({ "x-request-id": given })).toBe(id);
  });
});
