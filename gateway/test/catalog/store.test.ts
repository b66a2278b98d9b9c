import { describe, expect, it } from "vitest";
import { CatalogStore } from "../../src/catalog/store.ts";
import { dead, ok, workerConfig } from "./farm.ts";

const polled = (startedAt: number, result: ReturnType<typeof ok>) =>
  ({ type: "polled", worker: "a", startedAt, result }) as const;

describe("the catalogue's holder", () => {
  const started = () => {
    const store = new CatalogStore({ now: () => 0 }, { unhealthyAfter: 2, healthyAfter: 1 });
    store.apply({ type: "configured", workers: [workerConfig("a")] });
    return store;
  };

  it("tells listeners of a change, with both values, until they leave", () => {
    const store = started();
    const heard: [number, number][] = [];
    const leave = store.onChange((catalog, before) => heard.push([catalog.version, before.version]));
    store.apply(polled(1, ok(["m"])));
    leave();
    store.apply(polled(2, ok(["n"])));
    expect(heard).toEqual([[2, 1]]);
  });

  it("is quiet when a poll found nothing new, though the catalogue is younger", () => {
    const store = started();
    store.apply(polled(1, ok(["m"])));
    let heard = 0;
    store.onChange(() => {
      heard += 1;
    });
    store.apply(polled(2, ok(["m"])));
    expect(heard).toBe(0);
    expect(store.current.workers[0]?.catalogAt).toBe(2);
  });

  it("follows changed settings from the next event on", () => {
    const store = started();
    store.apply(polled(1, dead));
    store.configure({ unhealthyAfter: 5, healthyAfter: 1 });
    store.apply(polled(2, dead));
    expect(store.current.workers[0]?.health).toBe("unknown");
  });
});
