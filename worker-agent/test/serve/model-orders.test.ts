import { createLog } from "@farmgate/wire";
import { expect, it } from "vitest";
import type { Executor } from "../../src/executor.ts";
import { ModelOrders } from "../../src/serve/model-orders.ts";
import type { HeldBy, ServedModel } from "../../src/served-model.ts";
import { HandClock } from "../support/hand-clock.ts";

it.each<[string, HeldBy, string]>([
  ["a script", { kind: "script" }, "set `swap.unload: true`"],
  [
    "an engine",
    { kind: "engine", url: "http://127.0.0.1:8000" },
    "at http://127.0.0.1:8000 has no call that unloads m",
  ],
])("an order to unload what %s cannot unload says why", async (_, heldBy, why) => {
  const orders = new ModelOrders({} as Executor, () => false, new HandClock(), createLog("agent", "silent"));
  const refused = orders.unload({ name: "m", heldBy } as ServedModel, "r");
  await expect(refused).rejects.toMatchObject({ code: "not_supported", message: expect.stringContaining(why) });
});
