import { closeSync, openSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PROCESS_GAUGES } from "../src/process-gauges.ts";

const read = (name: string) => PROCESS_GAUGES.find((gauge) => gauge.name === name)?.read() ?? Number.NaN;

describe("the figures of the process", () => {
  it("are all there, and plausible", () => {
    for (const { read } of PROCESS_GAUGES) expect(read()).toBeGreaterThanOrEqual(0);
    expect(read("nodejs_heap_size_used_bytes")).toBeLessThan(read("process_resident_memory_bytes"));
    expect(read("process_cpu_seconds_total")).toBeGreaterThan(0);
  });

  it.runIf(process.platform === "linux")("count an open file", () => {
    const before = read("process_open_fds");
    const files = [openSync("/dev/null", "r"), openSync("/dev/null", "r")];
    expect(read("process_open_fds")).toBe(before + 2);
    for (const file of files) closeSync(file);
  });
});
