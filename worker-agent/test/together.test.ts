import { describe, expect, it } from "vitest";
import { type Rig, startRig } from "./support/agent-rig.ts";
import { until } from "./support/conditions.ts";

/** Loads the named model beside what is loaded, or unloads it. */
const SCRIPT = `#!${process.execPath}
const { appendFileSync } = require("node:fs");
const words = process.argv.slice(2);
appendFileSync("calls.log", words.join(" ") + "\\n");
const [path, model] = words[0] === "unload" ? ["/models/unload", words[1]] : ["/models/load", words[0]];
const body = JSON.stringify({ model });
fetch(process.env.FARMGATE_URL + path, { method: "POST", headers: { "content-type": "application/json" }, body });
`;

const loaded = (name: string) => ({ name, loaded: true });

interface Setup {
  engine: (string | { name: string; loaded: boolean })[];
  /** Keys of the models a, b and c beside their name and address. */
  models: Record<string, object>;
}

/** An agent with 10 GB for models, whose script loads them beside each other. */
function startBudgetRig({ engine, models }: Setup): Promise<Rig> {
  return startRig({
    script: SCRIPT,
    engine: { models: engine },
    config: (url) => ({
      swap: { unload: true },
      memory: { budget: "10gb" },
      models: Object.entries(models).map(([name, over]) => ({ name, url, slots: 1, ...over })),
    }),
  });
}

async function states(rig: Rig): Promise<string> {
  const catalog = (await (await fetch(`${rig.agent.url}/catalog`)).json()) as {
    models: { id: string; state: string }[];
  };
  return catalog.models.map(({ id, state }) => `${id} ${state}`).join(", ");
}

describe("an agent with a memory budget", () => {
  const sizes = { a: { memory: "6gb" }, b: { memory: "4gb" }, c: { memory: "4gb" } };

  it("keeps loaded what fits together, and unloads what it must for another", async () => {
    const rig = await startBudgetRig({ engine: ["a", "b", "c"], models: sizes });
    for (const model of ["a", "b", "a", "b"]) expect((await rig.chat(model)).status).toBe(200);
    expect(await rig.calls()).toEqual(["a", "b"]);
    expect(await states(rig)).toBe("a warm, b warm, c cold");
    const memory = { budget_bytes: 10 * 1_024 ** 3, used_bytes: 10 * 1_024 ** 3 };
    expect(await (await fetch(`${rig.agent.url}/catalog`)).json()).toMatchObject({ memory });
    expect((await rig.chat("c")).status).toBe(200);
    const [, , unload, load] = await rig.calls();
    expect(unload).toMatch(/^unload [ab]$/);
    expect(load).toBe("c");
    expect(await rig.health()).toMatchObject({ model: "c", swaps: 3 });
  });

  it("takes all that answer at start for loaded", async () => {
    const rig = await startBudgetRig({ engine: [loaded("a"), loaded("b"), "c"], models: sizes });
    expect(await states(rig)).toBe("a warm, b warm, c cold");
  });

  it("loads at start what is pinned and what is to be preloaded, and unloads after the ttl", async () => {
    const models = { a: { memory: "6gb", pinned: true }, b: { memory: "4gb", preload: true, ttl: "300ms" } };
    const rig = await startBudgetRig({ engine: ["a", "b"], models });
    await until(async () => (await rig.calls()).includes("unload b"));
    expect(await rig.calls()).toEqual(["a", "b", "unload b"]);
    await until(async () => (await states(rig)) === "a warm, b cold");
    const order = await fetch(`${rig.agent.url}/models/a/unload`, { method: "POST" });
    expect(order.status).toBe(409);
    expect(await order.text()).toContain("a is pinned");
  });
});
