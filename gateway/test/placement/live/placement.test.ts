import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { soleRight } from "../sole-right.ts";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "@farmgate/shared";
import { createLog, createSystemClock, Upstreams } from "@farmgate/wire";
import { expect, it } from "vitest";
import { CatalogStore } from "../../../src/catalog/store.ts";
import { encodeOracles } from "../../../src/placement/oracle/codec.ts";
import { CapacityOracle } from "../../../src/placement/oracle/capacity-oracle.ts";
import { ElasticityOracle } from "../../../src/placement/oracle/elasticity-oracle.ts";
import { OrderDesk } from "../../../src/placement/order-desk.ts";
import { catalogModel, catalogReport } from "@farmgate/engines";
import { workerConfig } from "../../catalog/farm.ts";
import { cleanup } from "../../support/cleanup.ts";
import { fakeWorker } from "../../support/fake-worker.ts";
import { agents, chat, runGateway } from "../../support/gateway.ts";
import { until } from "../../support/until.ts";

/** What an Oracle keeps that has found itself to be wrong about `m`. */
function wrongOracle(): string {
  const options = { learning: { random: seededRandom(1) } };
  const elasticity = new ElasticityOracle(options);
  const load = { requestsPerSecond: 1, inputMean: 10, inputVariance: 0, outputMean: 10, outputVariance: 0 };
  elasticity.observe("m", load, 1, 1);
  return encodeOracles({ capacity: new CapacityOracle(options), elasticity }).replace('"fits"', '"wrong"');
}

it("serves every request, and orders nothing, while what the Oracle expects is plainly wrong", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "farmgate-oracle-"));
  cleanup(() => rm(stateDir, { recursive: true }));
  await writeFile(join(stateDir, "oracles.json"), wrongOracle());
  const workers = [await fakeWorker({ m: "warm" }), await fakeWorker({ m: "cold" })] as const;
  const placement = { mode: "auto", elasticEvery: "10ms", stableEvery: "20ms", window: "300ms", stateDir };
  const gateway = await runGateway({ workers: agents({ a: workers[0], b: workers[1] }), placement });
  const shown = async () => (await fetch(`${gateway.url}/farm/placement`)).text();
  await until("it has said so", async () => {
    expect((await chat(gateway)).status).toBe(200);
    return (await shown()).includes("what it expects of every model in use is plainly wrong");
  });
  expect((await chat(gateway)).status).toBe(200);
  expect(workers.flatMap(({ ordered, unloaded }) => [...ordered, ...unloaded])).toEqual([]);
});

it("an unload that fails is not ordered again before its pause is over, and is forgotten with the model", async () => {
  const worker = await fakeWorker({ m: "warm" });
  const clock = createSystemClock();
  const catalog = new CatalogStore(clock, { unhealthyAfter: 3, healthyAfter: 1 });
  const upstreams = new Upstreams(1_000);
  cleanup(() => upstreams.destroy());
  const desk = new OrderDesk({ clock, log: createLog("gateway", "silent"), catalog, upstreams, right: soleRight });
  catalog.apply({ type: "configured", workers: [{ ...workerConfig("a"), url: worker.url }] });
  const poll = (models: readonly string[]) => {
    const report = catalogReport(models.map((id) => catalogModel(id, "warm", { commands: ["load", "unload"] })));
    const result = { kind: "ok", engine: "agent", report } as const;
    catalog.apply({ type: "polled", worker: "a", startedAt: clock.now(), result });
    desk.look(new Set());
  };
  poll(["m"]);
  const pair = { worker: "a", key: "m", model: "m" };
  worker.unloadStatus = 403;
  expect(await desk.unload(pair)).toMatchObject({ reason: "it answered 403" });
  expect([desk.whyNoUnload("a", "m"), desk.unloading.size]).toEqual(["is not told for 10 s: it answered 403", 0]);
  worker.unloadStatus = 200;
  expect(await desk.unload(pair)).toMatchObject({ reason: null });
  expect([desk.whyNoUnload("a", "m"), [...desk.unloading.keys()]]).toEqual([null, ["a"]]);
  poll(["m"]);
  expect(desk.unloading.size).toBe(0);
  worker.unloadStatus = 403;
  await desk.unload(pair);
  poll([]);
  expect([...desk.failedUnloads]).toEqual([]);
  expect(worker.unloaded).toEqual(["m", "m", "m"]);
});
