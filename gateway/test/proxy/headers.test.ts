import { headerValue } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { answerHeaders, hopsOf, markOf, retryAfterSeconds, upstreamHeaders } from "../../src/proxy/headers.ts";

const identity = {
  agent: true,
  apiKey: "worker-key",
  requestId: "r",
  caller: "alice",
  priority: "batch",
  deadlineLeftMs: 12.4,
  hops: 1,
  mark: markOf("here"),
};
const origin = {
  family: "openai" as const,
  requestId: "r",
  worker: "gpu",
  model: "m",
  warmth: "warm",
  attempts: 2,
  weighed: null,
};

describe("headers for a worker", () => {
  it("replace the caller's own and tell an agent who asks", () => {
    const raw = [
      "Authorization",
      "Bearer x",
      "X-Farmgate-Caller",
      "root",
      "Accept",
      "a",
      "Accept",
      "b",
      "Via",
      "1.0 p",
    ];
    expect(upstreamHeaders(raw, identity).join(" ")).toBe(
      "Accept a Accept b Via 1.0 p authorization Bearer worker-key via 1.1 farmgate-here x-request-id r " +
        "x-farmgate-hop 2 x-farmgate-caller alice x-farmgate-priority batch x-farmgate-deadline-ms 12",
    );
  });

  it("tell a bare engine nothing but Via", () => {
    expect(upstreamHeaders([], { ...identity, agent: false, apiKey: null })).toEqual(["via", "1.1 farmgate-here"]);
  });
});

describe("the hops of a request", () => {
  const here = markOf("here");
  const passed = (count: number) => Array.from({ length: count }, (_, i) => markOf(String(i))).join(", ");

  it("are what it says or what Via shows, whichever is more; nonsense is none", () => {
    expect(hopsOf(undefined, undefined, here)).toBe(0);
    expect(hopsOf("3", passed(1), here)).toBe(3);
    expect(hopsOf("1", `1.0 other, ${passed(2)}`, here)).toBe(2);
    expect(hopsOf("-4", undefined, here)).toBe(0);
    expect(hopsOf("1e9", undefined, here)).toBe(0);
  });

  it.each([
    ["5", undefined],
    ["99999999999999999999", undefined],
    ["0", passed(5)],
    [undefined, `1.0 other,${here}`],
  ])("%s with Via %s are a loop", (hop, via) => {
    expect(() => hopsOf(hop, via, here)).toThrow(/in a circle/);
  });
});

describe("headers for a caller", () => {
  it("can carry any name", () => {
    const headers = answerHeaders([], { ...origin, worker: "gpu box 1", model: "größe\n" }, []);
    expect(headerValue(headers, "x-farmgate-worker")).toBe("gpu box 1");
    expect(headerValue(headers, "x-farmgate-model")).toBe("gr%C3%B6%C3%9Fe%0A");
  });
});

describe("retry-after", () => {
  it("counts in seconds only", () => {
    expect(retryAfterSeconds(["Retry-After", " 7 "])).toBe(7);
    expect(retryAfterSeconds(["retry-after", "Mon, 30 Nov 2026 00:00:00 GMT"])).toBeNull();
    expect(retryAfterSeconds([])).toBeNull();
  });
});
