import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { Upstreams } from "../src/index.ts";

const AUTHORITY = readFileSync(new URL("../../test/fixtures/tls/authority.pem", import.meta.url), "utf8");

function upstreams(): Upstreams {
  const made = new Upstreams(1_000);
  onTestFinished(() => made.destroy());
  return made;
}

describe("upstreams", () => {
  it.each([
    ["http://h:1", "http://h:1", ""],
    ["http://h:1/", "http://h:1", ""],
    ["https://h/llm/a//", "https://h", "/llm/a"],
  ])("reach %s at %s below %j", (url, origin, prefix) => {
    expect(upstreams().to({ url })).toMatchObject({ origin, prefix });
  });

  it("keep one pool for each address and trust, and make a fresh one when asked", async () => {
    const all = upstreams();
    const { pool } = all.to({ url: "http://h:1" });
    expect(all.to({ url: "http://h:1" }).pool).toBe(pool);
    expect(all.to({ url: "http://h:2" }).pool).not.toBe(pool);
    expect(all.to({ url: "http://h:1", ca: AUTHORITY }).pool).not.toBe(pool);
    expect(all.to({ url: "http://h:1", ca: AUTHORITY }).pool).toBe(all.to({ url: "http://h:1", ca: AUTHORITY }).pool);
    const fresh = all.fresh({ url: "http://h:1" });
    expect(fresh.pool).not.toBe(pool);
    await fresh.pool.close();
  });

  it("are found as fast with a long list of authorities, which a new configuration brings as a new text", () => {
    const all = upstreams();
    const bundle = () => ["# authorities\n".repeat(100_000), AUTHORITY].join("");
    const target = { url: "https://h:1", ca: bundle() };
    const { pool } = all.to(target);
    const renewed = { url: "https://h:1", ca: bundle() };
    all.configure(1_000, [renewed]);
    const startedAt = performance.now();
    for (let i = 0; i < 2_000; i += 1) expect(all.to(renewed).pool === pool).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(500);
  });

  it("let go of those that a new configuration does not name, and of all when the time to connect changes", () => {
    const all = upstreams();
    const [one, two] = [all.to({ url: "http://h:1" }), all.to({ url: "http://h:2" })];
    all.configure(1_000, [{ url: "http://h:1" }]);
    expect([one.pool.closed, two.pool.closed]).toEqual([false, true]);
    all.configure(2_000, [{ url: "http://h:1" }]);
    expect(one.pool.closed).toBe(true);
    expect(all.to({ url: "http://h:1" }).pool.closed).toBe(false);
  });
});
