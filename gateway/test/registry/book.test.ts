import { FarmError } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WorkerConfig } from "../../src/catalog/types.ts";
import { MAX_REGISTERED, RegistrationBook } from "../../src/registry/book.ts";

const NONE: ReadonlySet<string> = new Set();

function worker(name: string, url = `http://192.0.2.1:8401/${name}`): WorkerConfig {
  return {
    name,
    url,
    ca: null,
    engine: "agent",
    weight: null,
    models: { allow: ["*"], deny: [] },
    maxConcurrent: 0,
    apiKey: "k",
    drainOnAbort: { bytes: 0, time: 0 },
  };
}

function isRefused(judge: () => unknown): boolean {
  try {
    judge();
    return false;
  } catch (error) {
    if (error instanceof FarmError && error.code === "conflict") return true;
    throw error;
  }
}

const names = (book: RegistrationBook) => book.configs().map(({ name }) => name);

describe("the book of registered workers", () => {
  it("has room for 200, and for renewals when it is full", () => {
    const book = new RegistrationBook();
    for (let i = 0; i < MAX_REGISTERED; i += 1) {
      expect(book.judge(worker(`w${i}`), "a", NONE)).toBe("joins");
      book.put(worker(`w${i}`), "a", "elsewhere", 0);
    }
    expect(() => book.judge(worker("one more"), "a", NONE)).toThrow("200 workers are registered");
    expect(book.told({ config: worker("one more"), instance: "a", leaseMs: 30_000 }, null, 0, NONE)).toBe(false);
    expect(book.judge(worker("w7"), "a", NONE)).toBe("renews");
    expect(book.configs()).toHaveLength(MAX_REGISTERED);
  });

  it("takes what another gateway tells, for as long as that says", () => {
    const book = new RegistrationBook();
    expect(book.told({ config: worker("box"), instance: "a", leaseMs: 10_000 }, null, 0, NONE)).toBe(true);
    expect(book.judge(worker("box"), "a", NONE)).toBe("renews");
    expect(() => book.judge(worker("box", "http://192.0.2.9:1"), "b", NONE)).toThrow("Names are unique");
    expect(book.shared(4_000)).toMatchObject([{ instance: "a", leaseMs: 6_000 }]);
    expect(book.sweep(9_999, NONE)).toEqual([]);
    expect(book.sweep(10_000, NONE)).toEqual(["box"]);
  });

  it("takes nothing from another gateway whose name the file has", () => {
    const book = new RegistrationBook();
    expect(book.told({ config: worker("box"), instance: "a", leaseMs: 10_000 }, null, 0, new Set(["box"]))).toBe(false);
    expect(names(book)).toEqual([]);
  });

  it("keeps the address by which it knows a worker itself, whatever others know it by", () => {
    const book = new RegistrationBook();
    book.put(worker("box", "http://192.0.2.1:1"), "a", "elsewhere", 0);
    const elsewhere = { config: worker("box", "http://198.51.100.1:1"), instance: "a", leaseMs: 30_000 };
    expect(book.told(elsewhere, null, 20_000, NONE)).toBe(false);
    expect([book.configs()[0]?.url, book.leaseMs("box", 20_000)]).toEqual(["http://192.0.2.1:1", 30_000]);
    // It has not come here for a whole lease.
    expect(book.told(elsewhere, null, 30_001, NONE)).toBe(true);
    expect(book.configs()[0]?.url).toBe("http://198.51.100.1:1");
  });

  it("hands out the same value while nothing of it changes", () => {
    const book = new RegistrationBook();
    book.put(worker("box"), "a", "elsewhere", 0);
    const [before] = book.configs();
    expect(book.put(worker("box"), "a", "elsewhere", 10_000)).toBe(false);
    expect(book.configs()[0]).toBe(before);
  });

  it("never has a name twice, one of the file, or one whose lease is over, whatever is done in whichever order", () => {
    const name = fc.constantFrom("a", "b", "c");
    const instance = fc.constantFrom("i1", "i2");
    const act = fc.record({ what: fc.constantFrom("register", "told", "leave"), name, instance, url: instance });
    const step = fc.record({ act, ms: fc.nat(20_000) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const book = new RegistrationBook();
        const inFile = new Set(["c"]);
        const held = new Map<string, { instance: string; until: number }>();
        let now = 0;
        for (const { act, ms } of steps) {
          now += ms;
          for (const gone of book.sweep(now, inFile)) held.delete(gone);
          const config = worker(act.name, `http://192.0.2.1/${act.url}`);
          if (act.what === "leave") {
            if (book.remove(act.name, act.instance)) held.delete(act.name);
          } else if (act.what === "told") {
            book.told({ config, instance: act.instance, leaseMs: 15_000 }, null, now, inFile);
            const before = held.get(act.name);
            const until = before?.instance === act.instance ? Math.max(before.until, now + 15_000) : now + 15_000;
            if (act.name !== "c") held.set(act.name, { instance: act.instance, until });
          } else {
            if (isRefused(() => book.judge(config, act.instance, inFile))) continue;
            book.put(config, act.instance, "elsewhere", now);
            held.set(act.name, { instance: act.instance, until: now + 30_000 });
          }
          expect(names(book).toSorted()).toEqual([...held.keys()].toSorted());
          expect(held.has("c")).toBe(false);
          for (const one of names(book)) expect(book.leaseMs(one, now)).toBeGreaterThan(0);
        }
      }),
    );
  });
});
