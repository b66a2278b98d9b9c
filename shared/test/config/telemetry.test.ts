import { describe, expect, it } from "vitest";
import { telemetry } from "../../src/config/pieces.ts";

const problems = (value: unknown) =>
  (telemetry.safeParse(value).error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);

describe("where traces go", () => {
  it("is nowhere unless it is set", () => {
    expect(telemetry.parse(undefined)).toBeNull();
    expect(telemetry.parse(null)).toBeNull();
    const all = { otlp: "http://192.0.2.9:4318", sample: 1, headers: {} };
    expect(telemetry.parse({ otlp: "http://192.0.2.9:4318/" })).toEqual(all);
  });

  it("takes a key that is sent along, and nothing that would break a header", () => {
    const otlp = "https://collector.example.com";
    expect(problems({ otlp, sample: 0.1, headers: { authorization: "Bearer abc" } })).toEqual([]);
    expect(problems({ otlp, headers: { "a b": "x" } })).toHaveLength(1);
    expect(problems({ otlp, headers: { a: "x\r\nb: y" } })[0]).toMatch(/^headers.a: must be plain ASCII/);
    expect(problems({ otlp: "grpc://collector:4317" })).toEqual(["otlp: must be an http:// or https:// address"]);
    expect(problems({ otlp, sample: 2 })).toEqual(["sample: must be at most 1"]);
    expect(problems({ otlp, smaple: 1 })[0]).toMatch(/smaple/);
  });
});
