import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { catalogModel, catalogReport } from "@farmgate/engines";
import { createLog, createSystemClock, Upstreams } from "@farmgate/wire";
import { describe, expect, it } from "vitest";
import { CatalogStore } from "../../src/catalog/store.ts";
import { OrderDesk } from "../../src/placement/order-desk.ts";
import type { Lease } from "../../src/together/hub.ts";
import { PlacingLease } from "../../src/together/placing-lease.ts";
import { workerConfig } from "../catalog/farm.ts";
import { cleanup } from "../support/cleanup.ts";
import { steppedClock } from "../support/stepped-clock.ts";
import { deferred, until } from "../support/until.ts";

describe("an order that a worker calls outdated", () => {
  /** A desk whose worker a answers all orders so, and b takes them; `lease` as the hub has it. */
  async function misled(lease: Lease) {
    const [clock, log] = [createSystemClock(), createLog("gateway", "silent")];
    const catalog = new CatalogStore(clock, { unhealthyAfter: 3, healthyAfter: 1 });
    const upstreams = new Upstreams(1_000);
    cleanup(() => upstreams.destroy());
    const right = new PlacingLease({ hub: { isShared: true, lease: () => lease }, clock, log });
    let changes = 0;
    right.take(() => (changes += 1));
    const answers = { a: 409, b: 202 };
    const servers = await Promise.all(
      Object.entries(answers).map(async ([name, status]) => {
        const server = createServer((_, response) => {
          response.writeHead(status, { "content-type": "application/json" });
          response.end(
            JSON.stringify({ error: { code: "stale_order", message: "Another gateway gives the orders." } }),
          );
        });
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        cleanup(() => server.close());
        return { ...workerConfig(name), url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
      }),
    );
    catalog.apply({ type: "configured", workers: servers });
    const report = catalogReport([catalogModel("m", "cold", { commands: ["load", "unload"] })]);
    const result = { kind: "ok", engine: "agent", report } as const;
    for (const worker of ["a", "b"]) catalog.apply({ type: "polled", worker, startedAt: clock.now(), result });
    const desk = new OrderDesk({ clock, log, catalog, upstreams, right });
    return { desk, right, changes: () => changes };
  }

  const at = (worker: string) => ({ worker, key: "m", model: "m" });

  it("means that another gateway orders where the hub says so, and nothing against the worker", async () => {
    const lease = {
      fence: 3 as number | null,
      onChange: () => {},
      // The other one is known as soon as it is asked.
      confirm: () => ((lease.fence = null), Promise.resolve(false)),
      release: () => Promise.resolve(),
    };
    const { desk, right } = await misled(lease);
    expect(await desk.load(at("a"))).toMatchObject({ outdated: true, status: 409 });
    expect([right.isHeld, desk.book.size]).toEqual([false, 0]);
    expect(await desk.unload(at("b"))).toMatchObject({ outdated: true, status: null });
    expect([desk.whyNoUnload("a", "m"), desk.unloading.size]).toEqual([null, 0]);
    // Won anew, its orders are sent again.
    lease.fence = 9;
    expect(await desk.load(at("b"))).toMatchObject({ status: 202 });
  });

  it("holds back that worker alone where the hub says that the right is held", async () => {
    const asked = deferred();
    const confirm = () => asked.promise.then(() => true);
    const { desk, right, changes } = await misled({
      fence: 3,
      onChange: () => {},
      confirm,
      release: () => Promise.resolve(),
    });
    const [load, unload] = [desk.load(at("a")), desk.unload(at("a"))];
    await until("it is in doubt", () => !right.isHeld);
    // Until that is known, no order of what may be an earlier holder goes anywhere.
    expect(await desk.load(at("b"))).toMatchObject({ outdated: true, status: null });
    asked.resolve();
    expect(await load).toMatchObject({ outdated: false, status: 409, reason: expect.stringContaining("with its key") });
    expect(await unload).toMatchObject({ outdated: false, status: 409 });
    expect([right.isHeld, right.fence, changes() > 0]).toEqual([true, 3, true]);
    expect(desk.whyNoUnload("a", "m")).toContain("takes orders again 20");
    expect(await desk.load(at("b"))).toMatchObject({ outdated: false, status: 202, reason: null });
  });

  it("is asked about again until the lease runs out, where the hub does not answer", async () => {
    let asked = 0;
    const lease = {
      fence: 3 as number | null,
      onChange: () => {},
      confirm: () => {
        asked += 1;
        if (asked === 2) lease.fence = null;
        return Promise.resolve(false);
      },
      release: () => Promise.resolve(),
    };
    const clock = steppedClock();
    const log = createLog("gateway", "silent");
    const right = new PlacingLease({ hub: { isShared: true, lease: () => lease }, clock, log });
    right.take(() => {});
    const outdated = right.isOutdated(3);
    await until("it was asked once", () => asked === 1);
    clock.move(999);
    await Promise.resolve();
    expect([asked, right.isHeld]).toEqual([1, false]);
    clock.move(1);
    await until("it was asked again", () => asked === 2);
    clock.move(1_000);
    expect([await outdated, right.isHeld]).toEqual([true, false]);
  });

  it("ends without a word and a look where the right was given up meanwhile", async () => {
    const told: string[] = [];
    const note = (_: object, words: string) => void told.push(words);
    const asked = deferred<boolean>();
    const lease = {
      fence: 3 as number | null,
      onChange: () => {},
      confirm: () => asked.promise,
      release: () => ((lease.fence = null), Promise.resolve()),
    };
    const log = Object.assign(createLog("gateway", "silent"), { info: note });
    const right = new PlacingLease({ hub: { isShared: true, lease: () => lease }, clock: steppedClock(), log });
    let looks = 0;
    right.take(() => (looks += 1));
    const outdated = right.isOutdated(3);
    await right.release();
    asked.resolve(true);
    await outdated;
    expect([right.isHeld, looks, told]).toEqual([false, 0, ["this gateway orders loads and unloads from now on"]]);
  });
});
