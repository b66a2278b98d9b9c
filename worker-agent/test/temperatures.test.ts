import { catalogSchema } from "@farmgate/shared";
import { expect, it } from "vitest";
import { type Rig, startRig } from "./support/agent-rig.ts";

async function temperatures({ agent }: Rig) {
  const { models } = catalogSchema.parse(await (await fetch(`${agent.url}/catalog`)).json());
  return models.map(({ temperature }) => temperature);
}

it.each([
  ["is warm where both fit into the host's memory", 12, "warm"],
  ["is cold where the other one took its place there", 8, "cold"],
])("a model that made room for another one %s", async (_, gigabytes, then) => {
  const rig = await startRig({
    hostMemory: gigabytes * 1_024 ** 3,
    config: (url) => ({ models: ["a", "b"].map((name) => ({ name, url, slots: 1, memory: "4gb" })) }),
  });
  expect(await temperatures(rig)).toEqual(["cold", "cold"]);
  expect((await rig.chat("a")).status).toBe(200);
  expect(await temperatures(rig)).toEqual(["active", "cold"]);
  expect((await rig.chat("b")).status).toBe(200);
  expect(await temperatures(rig)).toEqual([then, "active"]);
});
