import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseDuration } from "@farmgate/shared";
import { agentConfigSchema, promiseOf } from "@farmgate/worker-agent";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openConfig } from "../../src/config/open-config.ts";
import { waitPromises } from "../../src/config/wait-promise.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "farmgate-promises-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function told(config: object): Promise<{ lines: readonly string[]; warnings: string[] }> {
  await writeFile(join(folder, "file.yaml"), JSON.stringify(config, null, 1));
  const { lines, warnings } = waitPromises(await openConfig(join(folder, "file.yaml"), {}));
  return { lines, warnings: warnings.map(({ path, message }) => `${path}: ${message}`) };
}

const model = (name: string, port: number, more: object = {}) => ({ name, url: `http://127.0.0.1:${port}`, ...more });
const three = [model("a", 1), model("b", 2), model("c", 3)];
const swap = { command: "systemctl" };

test("three models of three minutes at default settings: 22 minutes, longer than a gateway lets others wait for a place", async () => {
  expect(await told({ name: "gpu-box", swap, models: three })).toEqual({
    lines: [
      "gpu-box: a request waits at most 22 min: 3 models that are swapped, loads of up to 3 min, answers of up to 1 min",
    ],
    warnings: [
      "queue: a place at gpu-box may be taken for 23 min 1 s, and a gateway with maxConcurrent or scheduling: deadline refuses " +
        "who waits for one after limits.queueWait (5 min): set that to 23 min 1 s at least",
    ],
  });
});

test("one model alone: its load and one answer", async () => {
  expect(await told({ name: "box", swap, models: [model("a", 1)] })).toEqual({
    lines: ["box: a request waits at most 4 min: no model is swapped, loads of up to 3 min, answers of up to 1 min"],
    warnings: [],
  });
});

test("each place that has a bound of its own", async () => {
  const queue = { maxBatch: 1, gather: 0, longestAnswer: "10s" };
  const models = [model("a", 1, { slots: 3, timeout: "30s" }), model("b", 2, { timeout: "60s" })];
  expect(await told({ name: "box", swap, queue, models })).toMatchObject({
    lines: [
      expect.stringContaining("at most 3 min 20 s at place 1, 5 min 40 s at place 2, 8 min at place 3: 2 models"),
    ],
  });
});

test("of many such places the first ones and the last, however many slots there are", async () => {
  const queue = { maxBatch: 1, gather: 0, longestAnswer: "10s" };
  const models = [model("a", 1, { slots: 2_000_000_000 }), model("b", 2, { slots: 2_000_000_000 })];
  const { lines } = await told({ name: "box", swap, queue, models });
  expect(lines).toEqual([
    expect.stringMatching(/ at place 1, .* at place 2, .* at place 3, \.\.\., .* at place 1000: /),
  ]);
});

test("models of engines count as far as the file names them", async () => {
  const engines = [{ url: "http://127.0.0.1:11434", models: { q: { pinned: true }, r: {}, s: {} } }];
  const { lines } = await told({ name: "box", engines });
  expect(lines).toEqual([
    expect.stringMatching(/: 2 models that are swapped, .*; what its engines list and .* counted$/),
  ]);
  expect(await told({ name: "box", engines: [{ url: "http://127.0.0.1:11434" }] })).toEqual({
    lines: [],
    warnings: [],
  });
});

test("every agent of a farm file, against the farm's own gateway", async () => {
  const farm = (gateway: object) => ({
    gateway,
    agents: [
      { name: "one", listen: { port: 8401 }, swap, models: [model("a", 1)] },
      { name: "two", listen: { port: 8402 }, swap, models: three },
    ],
  });
  const { lines, warnings } = await told(farm({ scheduling: "deadline", limits: { queueWait: "1381s" } }));
  expect(lines).toEqual([
    expect.stringMatching(/^one: a request waits at most 4 min: /),
    expect.stringMatching(/^two: a request waits at most 22 min: /),
  ]);
  expect(warnings).toEqual([]);
  const tooSoon =
    "gateway.limits.queueWait: a place at two may be taken for 23 min 1 s, and the gateway refuses who waits for one after " +
    "limits.queueWait (22 min): set that to 23 min 1 s at least";
  const limits = { queueWait: "22m" };
  expect((await told(farm({ limits, scheduling: "deadline" }))).warnings).toEqual([tooSoon]);
  const workers = [
    { name: "one", url: "http://127.0.0.1:8401" },
    { name: "two", url: "http://127.0.0.1:8402", maxConcurrent: 4 },
  ];
  expect((await told(farm({ limits, workers }))).warnings).toEqual([tooSoon]);
  // Nobody waits in the gateway where an agent takes all that comes.
  expect((await told(farm({ limits }))).warnings).toEqual([]);
});

/** Milliseconds of `1 h 4 min`. */
function msOf(words: string): number {
  const parts = words.replaceAll("min", "m").match(/[\d.]+ \w+/g) ?? [];
  return parts.reduce((sum, part) => sum + (parseDuration(part.replace(" ", "")) ?? Number.NaN), 0);
}

test("what it tells to wait for is enough, and more than the limit that it calls too little", async () => {
  const loads = fc.oneof(fc.integer({ min: 1, max: 10_000_000 }), fc.integer({ min: 3_500_000, max: 3_700_000 }));
  const answers = fc.integer({ min: 1, max: 100_000 });
  // How far the limit is from what is needed.
  const offsets = fc.oneof(...[1_500, 60_000, 5_000_000].map((most) => fc.integer({ min: -most, max: most })));
  const one = (load: number, answer: number) => ({
    name: "one",
    listen: { port: 8401 },
    swap,
    models: [model("a", 1, { timeout: `${load}ms` })],
    queue: { longestAnswer: `${answer}ms`, maxWait: "1h" },
  });
  const tooSoon = async (agent: object, queueWait: number) => {
    const gateway = { scheduling: "deadline", limits: { queueWait: `${queueWait}ms` } };
    const { warnings } = await told({ gateway, agents: [agent] });
    return /taken for (.*), and .*queueWait \((.*)\): set that to \1 at least$/.exec(warnings.join("\n"));
  };
  const seen = new Set<boolean>();
  await fc.assert(
    fc.asyncProperty(loads, answers, offsets, async (load, answer, offset) => {
      const agent = one(load, answer);
      const promise = promiseOf(agentConfigSchema.parse(agent));
      const needed = Math.max(...(promise?.bounds ?? []).map((bound) => bound.ms)) + answer;
      const queueWait = Math.max(1, needed + offset);
      const words = await tooSoon(agent, queueWait);
      seen.add(words !== null);
      // Where it warns of nothing, the limit is enough.
      const enough = words === null ? queueWait : msOf(words[1] ?? "");
      expect(enough).toBeGreaterThanOrEqual(needed);
      const most = needed < 3_600_000 ? 1_000 : 60_000;
      // Below an hour both are told to a second.
      const limit = queueWait < 3_600_000 ? 0 : msOf(words?.[2] ?? "");
      expect(words === null || (enough - needed < most && limit < enough)).toBe(true);
      expect(await tooSoon(agent, enough)).toBeNull();
    }),
    { examples: [[3_600_000, 14_900, -15_000]] },
  );
  expect(seen.size).toBe(2);
});

test("a maxWait that is nothing beside a load is noted", async () => {
  const { warnings } = await told({ name: "box", swap, models: three, queue: { maxWait: "5s" } });
  expect(warnings.at(-1)).toBe(
    "queue.maxWait: is short beside loads of up to 3 min: nearly every request makes its model the next one",
  );
});

test("arrival order promises nothing", async () => {
  expect(await told({ name: "box", swap, models: three, queue: { policy: "fifo" } })).toEqual({
    lines: ["box: queue.policy fifo promises nothing"],
    warnings: [],
  });
});

test("a gateway's file promises nothing", async () => {
  expect(await told({ workers: [] })).toEqual({ lines: [], warnings: [] });
});
