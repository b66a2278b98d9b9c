import { gzipSync } from "node:zlib";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTrace } from "../../src/trace/files/open-trace.ts";
import { readTrace } from "../../src/trace/read/read-trace.ts";
import { readServeGen } from "../../src/trace/read/servegen.ts";
import type { Trace } from "../../src/trace/types.ts";
import { TraceBuilder } from "../../src/trace/trace-builder.ts";
import { writeRecorded } from "../../src/trace/write-recorded.ts";

function columns(trace: Trace) {
  const { applications, at, app, input, output } = trace;
  const plain = (column: ArrayLike<number> | undefined) => (column === undefined ? undefined : Array.from(column));
  const more = { prefix: plain(trace.prefix), key: plain(trace.key), deadline: plain(trace.deadline) };
  const all = { at: plain(at), app: plain(app), input: plain(input), output: plain(output), ...more };
  return JSON.parse(JSON.stringify({ applications, ...all, batch: plain(trace.batch) })) as Record<string, unknown>;
}

const HEAD = '{"farmgate_trace":1}\n';

describe("an Azure trace", () => {
  it("is read with seconds from the start, whatever columns stand beside, and 0 tokens taken as 1", () => {
    const { trace, format } = readTrace("t_s,more,input_tokens,output_tokens\n0.5,x,10,3\r\n\n1.25,y,0,0\n");
    expect(format).toBe("azure");
    expect(columns(trace)).toEqual({
      applications: ["azure"],
      at: [0, 750],
      app: [0, 0],
      input: [10, 1],
      output: [3, 1],
    });
  });

  it("is read with dates as published, over the end of a year", () => {
    const rows = "2023-12-31 23:59:59.9000000,4808,10\n2024-01-01 00:00:00.1500000,3180,8\n2024-03-01 00:00:00,1,1\n";
    const { trace } = readTrace(`TIMESTAMP,ContextTokens,GeneratedTokens\n${rows}`);
    const whole = Date.parse("2024-03-01T00:00:00Z") - Date.parse("2023-12-31T23:59:59.900Z");
    expect(Array.from(trace.at, (ms) => Math.round(ms * 1_000) / 1_000)).toEqual([0, 250, whole]);
  });
});

describe("a Mooncake trace", () => {
  it("tells how much of a prompt an earlier one had in front too, and no more than it has", () => {
    const row = (timestamp: number, input_length: number, hash_ids: number[]) =>
      JSON.stringify({ timestamp, input_length, output_length: 5, hash_ids });
    const rows = [row(0, 1_000, [0, 1]), row(7, 2_000, [0, 1, 2, 3]), row(9, 700, [0, 1]), row(9, 600, [4, 1])];
    const { trace, format } = readTrace(rows.join("\n"));
    expect(format).toBe("mooncake");
    expect(columns(trace)).toMatchObject({ at: [0, 7, 9, 9], prefix: [0, 1_024, 700, 0] });
  });
});

describe("ServeGen's rates", () => {
  const table = (rows: string) => `model,client,t_s,rps,gap_cv,dist(W|G),shape,scale\n${rows}`;

  it("give each window as many requests as its rate says, the same ones from the same seed", () => {
    const text = table("big,0,0,2,1,G,0.05,1\nbig,1,600,0.5,1,W,0.4,1\nsmall,0,0,1,1,W,2,1\n");
    const options = { to: 1_200_000, rate: 1, seed: 3 };
    const trace = readServeGen(text, options);
    expect(trace.applications).toEqual(["big", "small"]);
    const count = (from: number, to: number) => trace.at.filter((at) => at >= from && at < to).length;
    expect([count(0, 600_000), count(600_000, 1_200_000)]).toEqual([1_800, 300]);
    expect(columns(readServeGen(text, options))).toEqual(columns(trace));
    expect(columns(readServeGen(text, { ...options, seed: 4 }))).not.toEqual(columns(trace));
    expect(readServeGen(text, { ...options, by: "client" }).applications).toEqual(["big/0", "big/1", "small/0"]);
    expect(readServeGen(text, { ...options, from: 600_000 }).at).toHaveLength(300);
  });

  it("refuse to become more requests than anybody can hold", () => {
    expect(() => readServeGen(table("m,0,0,9000,1,W,1,1"), { rate: 1 })).toThrow("a shorter time or a lower rate");
  });
});

describe("a recorded trace", () => {
  it("comes back as it was written", () => {
    const row = fc.record({
      at: fc.double({ min: 0, max: 1e9, noNaN: true }),
      name: fc.constantFrom("a", "b/c", 'd"e'),
      input: fc.integer({ min: 1, max: 1e9 }),
      output: fc.integer({ min: 0, max: 1e9 }),
      key: fc.integer({ min: 0, max: 65_535 }),
      deadline: fc.integer({ min: 0, max: 1e6 }),
      batch: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
        const builder = new TraceBuilder();
        const sorted = rows.toSorted((a, b) => a.at - b.at);
        for (const one of sorted) builder.add({ ...one, app: builder.application(one.name), prefix: one.input >> 1 });
        const trace = builder.build();
        expect(columns(readTrace([...writeRecorded(trace)].join("")).trace)).toEqual(columns(trace));
      }),
    );
  });

  it("is put in order of arrival, passes over what it does not know, and tells what is missing or guessed", () => {
    const rows = [
      '{"at":90,"model":"b","input":3,"output":0,"ttft":4,"worker":"x"}',
      '{"at":20,"model":"a","input":0,"output":7,"key":2,"deadline":500,"priority":"batch","estimated":true}',
      '{"lost":5}',
      '{"something":"else"}',
    ];
    const { trace, format, notes } = readTrace(HEAD + rows.join("\n"));
    expect(format).toBe("farmgate");
    expect(columns(trace)).toEqual({
      applications: ["b", "a"],
      at: [20, 90],
      app: [1, 0],
      input: [1, 3],
      output: [7, 0],
      key: [2, 0],
      deadline: [500, 0],
      batch: [1, 0],
    });
    expect(notes).toEqual([
      "5 requests are missing: the recording was read too slowly",
      "the tokens of 1 of 2 requests are estimates",
    ]);
  });
});

describe("a broken trace", () => {
  it.each([
    ["", "the file is empty"],
    ["\n \n", "the file is empty"],
    ["hello", "line 1: is the start of no known format"],
    ['{"farmgate_trace":2}', "line 1: is version 2 of the format; version 1 is known here"],
    [`${HEAD}{"at":1,"model":"m","input":1`, "line 2: is no JSON"],
    [`${HEAD}[1]`, "line 2: must be an object, not [1]"],
    [`${HEAD}{"at":"1","model":"m","input":1,"output":1}`, 'line 2: at must be a number, not the text "1"'],
    [`${HEAD}{"model":"m","input":1,"output":1}`, "line 2: at must be a number, not missing"],
    [`${HEAD}{"at":-1,"model":"m","input":1,"output":1}`, "line 2: at must not be negative, but is -1"],
    [`${HEAD}{"at":1,"model":7,"input":1,"output":1}`, "line 2: model must be a name, not 7"],
    [`${HEAD}\n{"at":1,"model":"m","input":1.5,"output":1}`, "line 3: input must be a whole number, not 1.5"],
    [`${HEAD}{"at":1,"model":"m","input":1e12,"output":1}`, "line 2: input is more than 1000000000"],
    [`${HEAD}{"at":1,"model":"m","input":1,"output":1,"key":70000}`, "line 2: key must be below 65536"],
    [`${HEAD}{"at":1,"model":"m","input":1,"output":1,"priority":"high"}`, "line 2: priority must be interactive or"],
    ["t_s,input_tokens\n0,1", "line 1: there is no column output_tokens"],
    ["t_s,input_tokens,output_tokens\n0,1", "line 2: has 2 columns where the head has 3"],
    ["t_s,input_tokens,output_tokens\n0,,5", "line 2: input tokens must be a number"],
    ["t_s,input_tokens,output_tokens\n5,1,1\n4,1,1", "line 3: is before the first request"],
    ['{"timestamp":0,"input_length":1,"output_length":1,"hash_ids":["x"]}', "line 1: hash_ids must be numbers"],
    ["model,client,t_s,rps,dist,shape\nm,0,0,1,X,1", "line 2: dist must be W or G, not X"],
    ["model,client,t_s,rps,dist,shape\nm,0,0,1,W,0", "line 2: shape must be above 0"],
    ["model,client,t_s,rps,dist,shape\nm,0,9e7,1,W,1", "no request comes of it in that time"],
  ])("%j: %s", (text, problem) => {
    expect(() => readTrace(text)).toThrow(problem);
  });
});

describe("a trace's file", () => {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "farmgate-trace-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("is opened packed or not, and named in what is wrong with it", async () => {
    const text = `${HEAD}{"at":1,"model":"m","input":1,"output":1}\n`;
    await writeFile(join(folder, "plain"), text);
    await writeFile(join(folder, "packed"), gzipSync(text));
    await writeFile(join(folder, "cut"), gzipSync(text).subarray(0, -12));
    const [plain, packed] = await Promise.all(["plain", "packed"].map((name) => openTrace(join(folder, name))));
    expect(packed).toEqual(plain);
    await expect(openTrace(join(folder, "cut"))).rejects.toThrow(/cut: cannot be unpacked/);
    await expect(openTrace(join(folder, "none"))).rejects.toThrow(/none: there is no such file$/);
    await expect(openTrace(folder)).rejects.toThrow("is a folder");
  });
});
