import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Clock, seededRandom } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { CatalogPoller } from "../../src/catalog/poller.ts";
import { CatalogStore } from "../../src/catalog/store.ts";
import type { CatalogEvent } from "../../src/catalog/types.ts";
import { pace } from "../../src/together/poll-duty.ts";
import { readNews } from "../../src/together/read-news.ts";
import { SharedCatalog } from "../../src/together/shared-catalog.ts";
import { workerConfig } from "../catalog/farm.ts";
import { cleanup } from "../support/cleanup.ts";
import { steppedClock } from "../support/stepped-clock.ts";
import { until } from "../support/until.ts";
import { testRoom } from "./room-hub.ts";

const INTERVAL = 1_000;
const TIMEOUT = 777;
const STEP = 50;

/** A clock by which it can be told whether a GET of a poll is under way: each has a timer of its own length. */
function pollClock() {
  const clock = steppedClock();
  let open = 0;
  const watched: Clock = {
    ...clock,
    after(ms, fn) {
      const cancel = clock.after(ms, fn);
      if (ms !== TIMEOUT) return cancel;
      open += 1;
      let isOpen = true;
      return () => {
        if (isOpen) open -= 1;
        isOpen = false;
        cancel();
      };
    },
  };
  return { clock: watched, move: clock.move, isIdle: () => open === 0 };
}

/** A worker agent that counts its polls; `up` false: what it answers no more. */
async function countedWorker() {
  const worker = { url: "", polls: 0, up: true, state: "warm" };
  const sockets = new Set<Socket>();
  const server: Server = createServer((request, response) => {
    worker.polls += request.url === "/catalog" ? 1 : 0;
    if (!worker.up) return void request.socket.destroy();
    response.end(JSON.stringify({ protocol: 1, models: [{ id: "m", state: worker.state }] }));
  });
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  worker.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  cleanup(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return worker;
}

/** Gateways, as far as their catalogues go, over some workers; `ways`: other addresses of the first worker for each. */
async function farm(ids: readonly string[], workers: number, ways: Record<string, string> = {}) {
  const { clock, move, isIdle } = pollClock();
  const room = testRoom(clock);
  const counted = await Promise.all(Array.from({ length: workers }, () => countedWorker()));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const settle = async () => {
    for (let quiet = 0; quiet < 12; quiet += 1) {
      if (!isIdle()) quiet = 0;
      await turn();
    }
  };
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += STEP) {
      move(STEP);
      await until("the polls are answered", isIdle);
      await settle();
    }
  };
  const members = ids.map((id, i) => {
    const hub = room.hub(id);
    const store = new CatalogStore(clock, { unhealthyAfter: 3, healthyAfter: 1 });
    const poller = new CatalogPoller({
      clock,
      random: seededRandom(i + 1),
      apply: (event: CatalogEvent) => store.apply(event),
      applyTold: (event: CatalogEvent) => store.apply(event, "elsewhere"),
      pace: (worker, reach) => pace(hub, worker, reach),
    });
    cleanup(() => poller.stop());
    const shared = new SharedCatalog({ clock, hub, catalog: store, poller });
    hub.onNews((value, from) => {
      const news = readNews(value);
      if (news?.kind === "catalog" || news?.kind === "polled") shared.take(news, from);
    });
    const begin = async () => {
      void hub.start({ counts: () => new Map(), callers: () => new Map() });
      await settle();
      const configs = counted.map(({ url }, w) => {
        return workerConfig(`w${w}`, { url: w === 0 ? (ways[id] ?? url) : url });
      });
      poller.configure(configs, { intervalMs: INTERVAL, timeoutMs: TIMEOUT });
      await until("the first polls are answered", isIdle);
      await settle();
    };
    const entry = (name: string) => store.current.workers.find(({ config }) => config.name === name);
    return { id, hub, store, poller, entry, begin };
  });
  const polls = () => counted.map((worker) => worker.polls);
  /** Polls of each worker in so long. */
  const during = async (ms: number) => {
    const before = polls();
    await pass(ms);
    return polls().map((count, w) => count - (before[w] ?? 0));
  };
  return { room, members, counted, pass, during };
}

const idsOf = (count: number) => Array.from({ length: count }, (_, i) => `gateway-${i}`);

describe("polls of gateways that act as one", () => {
  it.each([1, 3, 8])("ask each worker about once per cadence: %i gateways", async (count) => {
    const { members, during } = await farm(idsOf(count), 6);
    for (const { begin } of members) await begin();
    await during(2 * INTERVAL);
    const cadences = 8;
    const polls = await during(cadences * INTERVAL);
    for (const count of polls) {
      expect(count).toBeGreaterThanOrEqual(cadences - 1);
      expect(count).toBeLessThanOrEqual(cadences + 2);
    }
    for (const { store } of members)
      expect(store.current.workers.every(({ catalog }) => catalog === "fresh")).toBe(true);
  });

  it("are taken over within two cadences when a gateway dies, and what changes is known to all that are left", async () => {
    const { room, members, counted, pass } = await farm(idsOf(3), 6);
    for (const { begin } of members) await begin();
    await pass(2 * INTERVAL);
    const [gone, ...left] = members;
    room.drop("gateway-0");
    await gone?.poller.stop();
    for (const worker of counted) worker.state = "cold";
    await pass(2 * INTERVAL);
    for (const { store } of left) {
      expect(store.current.workers.map(({ byKey }) => byKey.get("m")?.state)).toEqual(counted.map(() => "cold"));
    }
  });

  it("go on at every gateway while the others cannot be heard", async () => {
    const { room, members, during } = await farm(idsOf(3), 2);
    for (const { begin } of members) await begin();
    room.away(true);
    await during(2 * INTERVAL);
    for (const polls of await during(4 * INTERVAL)) expect(polls).toBeGreaterThanOrEqual(3 * 3);
    room.away(false);
    await during(2 * INTERVAL);
    for (const polls of await during(4 * INTERVAL)) expect(polls).toBeLessThanOrEqual(6);
  });

  it("give up a worker at all gateways when it dies, and take it back when it answers", async () => {
    const { members, counted, pass } = await farm(idsOf(3), 1);
    for (const { begin } of members) await begin();
    const health = () => members.map(({ entry }) => entry("w0")?.health);
    const [worker] = counted;
    if (worker === undefined) throw new Error("no worker");
    worker.up = false;
    await pass(5 * INTERVAL);
    expect(health()).toEqual(["unhealthy", "unhealthy", "unhealthy"]);
    worker.up = true;
    await pass(2 * INTERVAL);
    expect(health()).toEqual(["healthy", "healthy", "healthy"]);
  });

  it("leave a worker to those that reach it, and out for those that do not", async () => {
    // Port 9 of loopback: nothing listens there.
    const { members, pass } = await farm(idsOf(3), 1, { "gateway-1": "http://127.0.0.1:9" });
    for (const { begin } of members) await begin();
    const health = () => members.map(({ entry }) => entry("w0")?.health);
    for (let cadence = 0; cadence < 8; cadence += 1) {
      await pass(INTERVAL);
      expect([health()[0], health()[2]]).toEqual(["healthy", "healthy"]);
    }
    expect(health()[1]).toBe("unhealthy");
  });

  it("are this gateway's own again once a request had no luck, until they tell that the way is open", async () => {
    const { members, pass } = await farm(idsOf(2), 1);
    for (const { begin } of members) await begin();
    await pass(2 * INTERVAL);
    const [first, second] = members;
    if (first === undefined || second === undefined) throw new Error("two are needed");
    first.store.apply({ type: "refused", worker: "w0" });
    expect(first.entry("w0")?.refused).toBe(true);
    await pass(2 * INTERVAL);
    expect(members.map(({ entry }) => entry("w0")?.refused)).toEqual([false, false]);
  });
});
