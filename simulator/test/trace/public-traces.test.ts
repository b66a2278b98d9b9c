import { describe, expect, it } from "vitest";
import { openTrace } from "../../src/trace/files/open-trace.ts";
import { summary } from "../../src/trace/summary.ts";
import { publicTrace, whereThere } from "./files.ts";

describe(`the public traces ${whereThere}`, () => {
  it.skipIf(whereThere !== "").each([
    { file: "azure_llm_2023_conv.csv.gz", format: "azure", requests: 19_366, rate: 5.53, peak: 2.9, cv: 1.1 },
    { file: "azure_llm_2023_code.csv.gz", format: "azure", requests: 8_819, rate: 2.57, peak: 26, cv: 13 },
    { file: "mooncake_conversation.jsonl.gz", format: "mooncake", requests: 12_031, rate: 3.4, peak: 8.2, cv: 3 },
    { file: "mooncake_synthetic.jsonl.gz", format: "mooncake", requests: 3_993, rate: 3.91, peak: 3.3, cv: 1 },
  ])("$file has its known shape", async ({ file, format, requests, rate, peak, cv }) => {
    const { trace, format: found } = await openTrace(publicTrace(file) ?? "");
    const shape = summary(trace);
    expect(found).toBe(format);
    expect(shape?.requests).toBe(requests);
    expect(shape?.rate).toBeCloseTo(rate, 1);
    expect(Math.abs((shape?.busiestOverMean ?? 0) / peak - 1)).toBeLessThan(0.03);
    expect(Math.abs((shape?.gapCv ?? 0) / cv - 1)).toBeLessThan(0.05);
  });

  it.skipIf(whereThere !== "")("ServeGen's rates give as many requests as they say, with uneven gaps", async () => {
    const options = { from: 0, to: 7_200_000, rate: 0.002, models: ["m-large"] };
    const { trace } = await openTrace(publicTrace("servegen_rates_2days.csv.gz") ?? "", { servegen: options });
    const shape = summary(trace);
    expect(trace.applications).toEqual(["m-large"]);
    // The sum of rate and time of the model's windows in the first two hours, at 0.002 of it.
    expect(Math.abs((shape?.requests ?? 0) / 3_136 - 1)).toBeLessThan(0.05);
    expect(trace.at[trace.at.length - 1]).toBeLessThan(7_200_000);
  });
});
