import { describe, expect, it } from "vitest";
import type { CatalogEvent } from "../../src/catalog/types.ts";
import { workerNews } from "../../src/catalog/worker-news.ts";
import { broken, dead, Farm, ok } from "./farm.ts";

const unauthorized = { kind: "unauthorized", engine: "agent", reason: "/catalog answered 401" } as const;

/** What the last of some happenings said. */
function said(happens: (farm: Farm) => Farm, ...before: ((farm: Farm) => Farm)[]): string[] {
  const farm = before.reduce((last, one) => one(last), new Farm("a"));
  const was = farm.catalog;
  return workerNews(was, happens(farm).catalog).map(({ level, worker, message }) => `${level} ${worker} ${message}`);
}
const good = (farm: Farm) => farm.polled("a", ok(["m"]));
const miss = (farm: Farm) => farm.polled("a", dead);

describe("news of workers", () => {
  it("tells of each change for better or worse once", () => {
    expect(said(good)).toEqual(["info a answers: agent with 1 model"]);
    expect(said(good, good)).toEqual([]);
    expect(said(miss, good)).toEqual([]);
    expect(said(miss, miss, miss)).toEqual(["warn a is unhealthy and out until it answers (no answer within 2000 ms)"]);
    expect(said(miss, miss, miss, miss)).toEqual([]);
    expect(said(good, miss, miss, miss)).toEqual(["info a is back: agent with 1 model"]);
  });

  it("says a refused key loudly", () => {
    expect(said((farm) => farm.polled("a", unauthorized), good)).toEqual([
      "error a refuses the gateway's key and is out until that is mended (/catalog answered 401)",
    ]);
  });

  it("tells when a catalogue goes and comes", () => {
    const goes = (farm: Farm) => farm.polled("a", broken);
    expect(said(goes, good)[0]).toMatch(/^warn a its catalogue cannot be fetched.*answered 500/);
    expect(said(good, good, goes)).toEqual(["info a its catalogue is back: agent with 1 model"]);
    expect(said(goes)[0]).toMatch(/^warn a answers, without a usable catalogue/);
  });

  it("tells of draining", () => {
    const on = (type: "drain" | "resume") => (farm: Farm) => farm.on({ type, worker: "a" } satisfies CatalogEvent);
    expect(said(on("drain"), good)).toEqual(["info a drains: it gets no new requests"]);
    expect(said(on("resume"), good, on("drain"))).toEqual(["info a no longer drains"]);
  });
});
