import { createLog } from "@farmgate/wire";
import { describe, expect, it } from "vitest";
import type { HeldResult, Holder } from "../src/holders/holder.ts";
import { Holders } from "../src/holders/holders.ts";
import { agentConfigSchema } from "../src/index.ts";
import { Learned } from "../src/figures/learned.ts";
import { AgentMetrics } from "../src/metrics.ts";
import { ModelSwitch } from "../src/model-switch.ts";
import { Scheduler } from "../src/queue/scheduler.ts";
import { replacesBy, rulesOf } from "../src/scheduler-rules.ts";
import { ModelBook, type ServedModel } from "../src/served-model.ts";
import { HandClock } from "./support/hand-clock.ts";

const { signal } = new AbortController();

interface World {
  unload?: boolean;
  budget?: string;
  /** What fails: `load b`, `unload a`. */
  failing?: readonly string[];
  /** Whether p is. */
  pinned?: boolean;
  /** What answers as ready all the same. */
  ready?: readonly string[];
}

/** Script models a, b and p, and c, which is held by a command. */
function world({ unload = true, pinned = false, budget = "0", failing = [], ready = [] }: World) {
  const names = ["a", "b", "p", "c"];
  const config = agentConfigSchema.parse({
    swap: { command: "./swap", unload },
    memory: { budget },
    models: names.map((name, i) => ({
      name,
      url: `http://127.0.0.1:${i + 9}`,
      pinned: pinned && name === "p",
      memory: "1gb",
    })),
  });
  const book = new ModelBook(config);
  const models = book.models.map((model): ServedModel => {
    return model.name === "c" ? { ...model, heldBy: { kind: "command", command: "x" }, leaves: "call" } : model;
  });
  const named = (name: string) => models.find((model) => model.name === name);
  const done: string[] = [];
  const holder = (kind: string): Holder => {
    const act = async (what: string): Promise<HeldResult> => {
      done.push(`${kind} ${what}`);
      return failing.includes(what) ? { ok: false, reason: "exit code 1", tail: "no memory" } : { ok: true, tail: "" };
    };
    return {
      load: ({ name }, previous) => act(`load ${name}`.concat(previous === "x" ? " after x" : "")),
      unload: ({ name }) => act(`unload ${name}`),
      isReady: async ({ name }) => ready.includes(name),
      found: async (list) => [...list],
      facts: async () => ({ engine: null, contextLength: null }),
      lost: ({ name }) => void done.push(`${kind} lost ${name}`),
      close: async () => {},
    };
  };
  const holders = new Holders({ script: holder("script"), command: holder("command"), engine: null });
  const missing = new Map<string, string>();
  const learned = new Learned();
  const log = createLog("agent", "silent");
  const metrics = new AgentMetrics();
  const missingFor = async (model: string) => missing.get(model) ?? null;
  const context = { holders, missingFor, replaces: replacesBy(config), learned, metrics, spans: null, log };
  const served = { models, named } as unknown as ModelBook;
  const switching = new ModelSwitch({ ...context, models: served, clock: new HandClock() });
  const swap = (model: string, ...victims: string[]) =>
    switching.swap({ model, previous: null, victims, reason: "" }, signal);
  return { done, holders, metrics, missing, swap, switching };
}

/** As the metrics tell them; only models that are served have a line. */
async function evictions(metrics: AgentMetrics): Promise<string[]> {
  const view = new Scheduler(rulesOf(agentConfigSchema.parse({}), [])).view(0);
  const models = ["a", "b", "c"].map((name) => ({ name, queued: 0, running: 0 }) as (typeof view.models)[number]);
  const text = await metrics.text({ ...view, models });
  return text.split("\n").filter((line) => line.startsWith("farmgate_agent_evictions_total{"));
}

describe("a swap", () => {
  it("leaves it to the script to switch, where one model is loaded at a time or it knows no unload", async () => {
    for (const over of [{}, { unload: false }]) {
      const { done, swap } = world(over);
      expect(await swap("b", "a")).toEqual({ ok: true });
      expect(done).toEqual(["script load b"]);
    }
  });

  it("takes nothing out for a model whose files are not here", async () => {
    const { done, missing, swap } = world({ pinned: true });
    missing.set("b", "its file b.gguf is on its way");
    expect(await swap("b", "a")).toEqual({ ok: false, reason: "its file b.gguf is on its way", lost: [] });
    expect(done).toEqual(["script lost b"]);
  });

  it("unloads each victim first within a budget, beside a pinned script model, and one of another holder always", async () => {
    const beside = world({ pinned: true });
    expect(await beside.swap("b", "a")).toEqual({ ok: true });
    expect(beside.done).toEqual(["script unload a", "script load b"]);
    const within = world({ budget: "24gb" });
    expect(await within.swap("b", "a", "c")).toEqual({ ok: true });
    expect(within.done).toEqual(["script unload a", "command unload c", "script load b"]);
    const alone = world({});
    await alone.swap("b", "c");
    expect(alone.done).toEqual(["command unload c", "script load b"]);
  });

  it("ends where a victim is not unloaded and still answers: that one stands, those before are gone", async () => {
    const { done, swap } = world({ budget: "24gb", failing: ["unload a"], ready: ["a"] });
    expect(await swap("b", "c", "a")).toEqual({
      ok: false,
      reason: "a was not unloaded: exit code 1",
      lost: ["c"],
    });
    expect(done).toEqual(["command unload c", "script unload a", "script lost b"]);
  });

  it("that fails counts the victims that are gone, and no other, as taken out", async () => {
    const { swap, metrics } = world({ budget: "24gb", failing: ["unload a"], ready: ["a"] });
    await swap("b", "c", "a");
    expect(await evictions(metrics)).toEqual(['farmgate_agent_evictions_total{model="c"} 1']);
  });

  it("that fails tells the holder that the model is not loaded, so that one that is all the same is found anew", async () => {
    const { done, swap } = world({ failing: ["load b"] });
    await swap("b", "a");
    expect(done).toEqual(["script load b", "script lost b"]);
  });

  it("goes on where a victim was not unloaded but answers no more", async () => {
    const { done, swap } = world({ budget: "24gb", failing: ["unload a"] });
    expect(await swap("b", "a")).toEqual({ ok: true });
    expect(done).toEqual(["script unload a", "script load b"]);
  });

  it("that fails leaves nothing of the script, where it switches by itself", async () => {
    const { swap } = world({ failing: ["load b"] });
    expect(await swap("b")).toEqual({ ok: false, reason: "exit code 1: no memory", lost: ["a", "p"] });
  });

  it("that fails within a budget leaves all but the victims", async () => {
    const { swap } = world({ budget: "24gb", failing: ["load b"] });
    expect(await swap("b", "c")).toEqual({ ok: false, reason: "exit code 1: no memory", lost: ["c"] });
  });

  it("of a model that is not served any more fails", async () => {
    expect(await world({}).swap("x", "a")).toMatchObject({ ok: false, lost: [] });
  });
});

describe("an unload", () => {
  it("that fails says whether the model still answers", async () => {
    const stands = world({ failing: ["unload a"], ready: ["a"] }).switching;
    expect(await stands.unload("a", "", signal)).toMatchObject({ ok: false, still: true });
    expect(await world({ failing: ["unload a"] }).switching.unload("a", "", signal)).toEqual({ ok: true });
  });
});

describe("holders", () => {
  it("ask each kind for its own models, and refuse a model of a kind that there is none of", async () => {
    const { holders } = world({});
    const model = { name: "o", heldBy: { kind: "engine", url: "http://127.0.0.1:9" } } as ServedModel;
    expect(await holders.found("engine", [model], signal)).toEqual([]);
    expect(() => holders.load(model, null, signal)).toThrow("nothing here loads o");
  });
});
