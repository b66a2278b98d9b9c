import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createLog } from "@farmgate/wire";
import { describe, expect, it, vi } from "vitest";
import { until } from "./support/conditions.ts";
import { HELD_SCRIPT, startRig } from "./support/agent-rig.ts";
import { startHeldRig } from "./support/held-rig.ts";

describe("an agent that swaps", () => {
  it("serves six requests for two models in the order 1 3 4 2 5 6, with one swap", async () => {
    const rig = await startHeldRig();
    const answers = [rig.chat("a", "1")];
    await until(() => rig.asked.length === 1);
    for (const [i, model] of ["b", "a", "a", "b", "b"].entries()) {
      answers.push(rig.chat(model, String(i + 2)));
      await rig.queued(i + 1);
    }
    rig.release();
    for (const answer of answers) expect((await answer).status).toBe(200);
    expect(rig.asked).toEqual(["1", "3", "4", "2", "5", "6"]);
    expect(await rig.calls()).toEqual(["b"]);
    expect(await rig.health()).toMatchObject({ model: "b", swaps: 1, queue_depth: 0, inflight: 0, status: "ok" });
  });

  it("runs the script once for a burst of first requests", async () => {
    const rig = await startRig({ engine: { load: "100ms" } });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => rig.chat("a", String(i))));
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(await rig.calls()).toEqual(["a"]);
    expect(rig.engine.stats.loads).toBe(1);
  });

  it("tells the script what was loaded before, and nothing at first", async () => {
    const rig = await startRig();
    for (const model of ["b", "a"]) expect((await rig.chat(model)).status).toBe(200);
    const log = await readFile(join(rig.directory, "calls.log"), "utf8");
    expect(log).toBe("b previous=\nend\na previous=b\nend\n");
  });

  it("logs a swap when it starts: what is loaded in place of what, and why", async () => {
    const log = createLog("agent", "silent");
    const info = vi.spyOn(log, "info");
    const rig = await startRig({ engine: { models: [{ name: "a", loaded: true }, "b"] }, script: HELD_SCRIPT, log });
    const answer = rig.chat("b");
    await until(async () => (await rig.calls()).length === 1);
    expect(info).toHaveBeenLastCalledWith({ model: "b", previous: "a", why: expect.stringMatching(/./) }, "loading b");
    await rig.agent.close();
    expect((await answer).status).toBe(503);
  });

  it("never has two models loaded, and answers every request by its own model", async () => {
    const rig = await startRig({ config: { queue: { maxBatch: 13 } }, engine: { load: "5ms" } });
    const pairs = Array.from({ length: 50 }, (_, i) => ["a", "b"].map((model) => rig.chat(model, `${model}${i}`)));
    const answers = await Promise.all(pairs.flat());
    for (const [i, answer] of answers.entries()) {
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ model: i % 2 === 0 ? "a" : "b" });
    }
    let loaded = 0;
    for (const { event } of rig.engine.stats.log) {
      if (event === "load") loaded += 1;
      if (event === "unloaded" || event === "evicted") loaded -= 1;
      expect(loaded).toBeLessThanOrEqual(1);
    }
    expect(rig.engine.stats.served).toBe(100);
    expect(rig.engine.stats.left).toBe(0);
  });
});
