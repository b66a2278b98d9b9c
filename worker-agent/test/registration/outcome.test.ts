import { seededRandom } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foundUrl } from "../../src/registration/found-url.ts";
import { nextPauseMs, outcomeOf } from "../../src/registration/outcome.ts";

const error = (message: string) => JSON.stringify({ error: { message, code: "x" } });

describe("what a gateway answers to a registration", () => {
  it("lets the agent in, refuses it, or is of no gateway that is there", () => {
    expect(outcomeOf(200, '{"name":"box","leaseMs":30000}')).toEqual({ kind: "in", leaseMs: 30_000 });
    expect(outcomeOf(401, error("No key."))).toEqual({ kind: "refused", why: "it answers 401: No key." });
    expect(outcomeOf(409, error("Taken.")).kind).toBe("refused");
    expect(outcomeOf(404, "<html>").kind).toBe("refused");
    expect(outcomeOf(200, "<html>").kind).toBe("refused");
    expect(outcomeOf(200, '{"name":"box","leaseMs":0}').kind).toBe("refused");
    for (const status of [408, 429, 500, 502, 503]) expect(outcomeOf(status, "").kind).toBe("away");
  });

  it("is followed by the next try: a third of the lease, a minute, or 1 s to 30 s by chance", () => {
    const random = seededRandom(1);
    expect(nextPauseMs({ kind: "in", leaseMs: 30_000 }, 0, random)).toBe(10_000);
    expect(nextPauseMs({ kind: "in", leaseMs: 1e300 }, 0, random)).toBe(30_000);
    expect(nextPauseMs({ kind: "in", leaseMs: 1 }, 0, random)).toBe(1_000);
    expect(nextPauseMs({ kind: "refused", why: "" }, 0, random)).toBe(60_000);
    const away = { kind: "away", why: "" } as const;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (n, chance) => {
        const ms = nextPauseMs(away, n, () => chance);
        expect(ms).toBeGreaterThanOrEqual(1_000);
        expect(ms).toBeLessThanOrEqual(Math.min(30_000, 1_000 * 2 ** n));
      }),
    );
    expect(nextPauseMs(away, 10_000, () => 0.999)).toBeGreaterThan(29_000);
  });
});

describe("a gateway that was found on the local network", () => {
  const found = { host: "box.local", port: 8400, addresses: ["192.0.2.1", "2001:db8::1"], txt: {} };

  it("is asked at its address, or by HTTPS at its machine's name", () => {
    expect(foundUrl(found, false)).toBe("http://192.0.2.1:8400");
    expect(foundUrl({ ...found, addresses: ["2001:db8::1"] }, false)).toBe("http://[2001:db8::1]:8400");
    expect(foundUrl({ ...found, txt: { tls: "1" } }, true)).toBe("https://box.local:8400");
  });

  it("is not asked without TLS where the file says who vouches for it, nor where it says nothing that can be asked", () => {
    expect(foundUrl(found, true)).toBeNull();
    for (const odd of [
      { ...found, port: 0 },
      { ...found, port: 70_000 },
      { ...found, addresses: [] },
      { ...found, addresses: ["fe80::1"] },
      { ...found, addresses: ["a/b"] },
      { ...found, txt: { tls: "1" }, host: "a b" },
      { ...found, txt: { tls: "1" }, host: "h?" },
    ]) {
      expect([odd, foundUrl(odd, false)]).toEqual([odd, null]);
    }
  });
});
