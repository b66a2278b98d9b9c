import { seededRandom } from "@farmgate/shared";
import { createLog, createSystemClock, type OpenMulticast, Upstreams } from "@farmgate/wire";
import { expect, it } from "vitest";
import { agentConfigSchema } from "../../src/config.ts";
import { Registrations } from "../../src/registration/registrations.ts";
import { makeRunKey } from "../../src/registration/run-key.ts";

it("stops looking for gateways by each entry of the file that has it look", async () => {
  const looking = new Set<number>();
  let opened = 0;
  const openMulticast: OpenMulticast = async () => {
    opened += 1;
    const number = opened;
    looking.add(number);
    return { announce: () => {}, browse: () => {}, close: async () => void looking.delete(number) };
  };
  const registrations = new Registrations({
    config: agentConfigSchema.parse({ name: "box", gateway: [{ discover: true }, { discover: true, key: "k" }] }),
    version: "0.1.0",
    run: makeRunKey(),
    tls: null,
    clock: createSystemClock(),
    random: seededRandom(1),
    log: createLog("agent", "silent"),
    upstreams: new Upstreams(1_000),
    openMulticast,
  });
  registrations.start(8_401);
  await registrations.leave();
  expect([opened, looking.size]).toEqual([2, 0]);
});
