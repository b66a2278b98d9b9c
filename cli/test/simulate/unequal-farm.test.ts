import { fileURLToPath } from "node:url";
import {
  baselines,
  builtInDay,
  type LanFarm,
  readFarm,
  replay,
  summarize,
  type Trace,
} from "@farmgate/simulator/virtual";
import { expect, it } from "vitest";
import { checkFarm } from "../../src/config/farm-schema.ts";
import { checked, openConfig } from "../../src/config/open-config.ts";

const FARM = fileURLToPath(new URL("../../../docs/lan-farm.yaml", import.meta.url));
const HOUR = 3_600_000;
const SETTINGS = { seed: 1, callerTimeoutMs: 600_000, targetMs: 10_000 };

async function lanFarm(): Promise<LanFarm> {
  const opened = await openConfig(FARM, {});
  return readFarm(checked(opened, checkFarm(opened.document))).farm;
}

/** What arrives between two hours of the day. */
function partOf({ applications, at, app, input, output }: Trace, from: number, until: number): Trace {
  const first = at.findIndex((ms) => ms >= from * HOUR);
  const end = at.findIndex((ms) => ms >= until * HOUR);
  return {
    applications,
    at: at.slice(first, end).map((ms) => ms - from * HOUR),
    app: app.slice(first, end),
    input: input.slice(first, end),
    output: output.slice(first, end),
  };
}

it("placement is no worse than the plain farm of unequal workers, and swaps a handful of times at most", async () => {
  const farm = await lanFarm();
  const trace = partOf(builtInDay(farm, 3_000, 1), 9, 11);
  const byName = new Map(baselines(farm, trace, SETTINGS.targetMs).map((one) => [one.name, one.farm]));
  const [plain, auto] = ["warm first, greedy", "warm first, greedy, placement: auto"].map((name) => {
    const variant = byName.get(name) ?? farm;
    return summarize(variant, trace, replay(variant, trace, SETTINGS), SETTINGS);
  });
  expect(plain?.requests).toBeGreaterThan(200);
  expect(auto?.onTime).toBeGreaterThan((plain?.onTime ?? 1) - 0.01);
  expect(auto?.loads).toBeLessThanOrEqual(6);
});
