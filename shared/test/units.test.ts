import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, formatSize, parseDuration, parseSize } from "../src/units.ts";

describe("durations", () => {
  it.each([
    ["500ms", 500],
    ["5s", 5_000],
    ["1.5m", 90_000],
    ["2h", 7_200_000],
    ["0", 0],
    [" 10m ", 600_000],
    ["0s", 0],
  ])("%s is read", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(["", "5", "s", "-5s", "5 s", "1e3s", "5S", "1.s", "5d", "5s5s"])("%j is none", (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  it.each([
    [0, "0 ms"],
    [850.4, "850 ms"],
    [999.6, "1 s"],
    [1_000, "1 s"],
    [12_400, "12.4 s"],
    [59_949, "59.9 s"],
    [59_950, "1 min"],
    [185_000, "3 min 5 s"],
    [3_599_400, "59 min 59 s"],
    [3_599_600, "1 h"],
    [7_440_000, "2 h 4 min"],
  ])("%d ms is told as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe("sizes", () => {
  it.each([
    ["512kb", 524_288],
    ["100MB", 104_857_600],
    ["24gb", 25_769_803_776],
    ["1.5kb", 1_536],
    ["7b", 7],
    ["0", 0],
  ])("%s is read", (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(["", "5", "kb", "-1kb", "1 kb", "5kib", "5pb"])("%j is none", (text) => {
    expect(parseSize(text)).toBeNull();
  });

  it.each([
    [0, "0 B"],
    [1_023, "1023 B"],
    [1_024, "1 KB"],
    [1_536, "1.5 KB"],
    [1_048_575, "1 MB"],
    [25_769_803_776, "24 GB"],
    [5 * 1_024 ** 5, "5120 TB"],
  ])("%d bytes are told as %s", (bytes, text) => {
    expect(formatSize(bytes)).toBe(text);
  });

  it("are told within a twentieth of what they are", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 50 }), (bytes) => {
        const told = parseSize(formatSize(bytes).replace(" ", "")) ?? Number.NaN;
        expect(Math.abs(told - bytes)).toBeLessThanOrEqual(bytes * 0.05);
      }),
    );
  });
});
