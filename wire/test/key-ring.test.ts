import { type AccessKey, hashedKey } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { KeyRing } from "../src/index.ts";

const key = (name: string, changes: Partial<AccessKey> = {}): AccessKey => ({
  name,
  key: `secret-of-${name}`,
  models: ["*"],
  maxConcurrent: 0,
  requestsPerMinute: 0,
  admin: false,
  ...changes,
});

const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString("base64")}` });

describe("a ring of keys", () => {
  it("lets everybody in when it is empty", () => {
    expect(new KeyRing([]).identify({})).toEqual({ name: "", key: null });
  });

  it.each([
    ["Bearer", { authorization: "Bearer secret-of-bob" }],
    ["bearer in small letters", { authorization: "bearer  secret-of-bob" }],
    ["x-api-key", { "x-api-key": "secret-of-bob" }],
    ["the password of Basic", basic("anyone:secret-of-bob")],
    ["a protocol of a WebSocket", { "sec-websocket-protocol": "realtime, openai-insecure-api-key.secret-of-bob" }],
    ["the only part of Basic", basic("secret-of-bob:")],
  ])("knows a caller by %s", (_how, headers) => {
    expect(new KeyRing([key("alice"), key("bob")]).identify(headers).name).toBe("bob");
  });

  it.each([
    ["nothing", {}],
    ["a wrong key", { authorization: "Bearer secret-of-eve" }],
    ["the start of a key", { authorization: "Bearer secret-of-bo" }],
    ["another scheme", { authorization: "Digest secret-of-bob" }],
    ["an empty one", { authorization: "Bearer ", "x-api-key": "" }],
  ])("refuses %s", (_what, headers) => {
    expect(() => new KeyRing([key("bob")]).identify(headers)).toThrow(
      expect.objectContaining({ code: "invalid_api_key", status: 401 }),
    );
  });

  it("counts the requests under way of each key, also over a change of the keys", () => {
    const ring = new KeyRing([key("bob", { maxConcurrent: 2 }), key("alice", { maxConcurrent: 1 })]);
    const bob = ring.identify({ "x-api-key": "secret-of-bob" });
    const leave = [ring.enter(bob, 0), ring.enter(bob, 0)];
    const refusal = expect.objectContaining({ code: "rate_limited", retryAfterS: 1 });
    expect(() => ring.enter(bob, 0)).toThrow(refusal);
    ring.enter(ring.identify({ "x-api-key": "secret-of-alice" }), 0);
    ring.configure([key("bob", { maxConcurrent: 1 })]);
    const again = ring.identify({ "x-api-key": "secret-of-bob" });
    leave[0]?.();
    expect(() => ring.enter(again, 0)).toThrow(refusal);
    leave[1]?.();
    expect(() => ring.enter(again, 0)).not.toThrow();
  });

  it("knows a key of which the file has the hash alone, and does not take the hash for the key", () => {
    const hash = hashedKey("secret-of-bob");
    const ring = new KeyRing([key("alice"), key("bob", { key: hash.toUpperCase().replace("SHA", "sha") })]);
    expect(ring.identify({ "x-api-key": "secret-of-bob" }).name).toBe("bob");
    for (const tried of [hash, hash.slice("sha256:".length)]) {
      expect(() => ring.identify({ "x-api-key": tried })).toThrow("not known here");
    }
  });

  it("holds a key to its requests a minute, says when the next may come, and forgets nothing over a change", () => {
    const bobs = (perMinute: number) => [key("alice"), key("bob", { requestsPerMinute: perMinute, maxConcurrent: 2 })];
    const ring = new KeyRing(bobs(3));
    const bob = () => ring.identify({ "x-api-key": "secret-of-bob" });
    for (const _ of [1, 2, 3]) ring.enter(bob(), 0)();
    expect(() => ring.enter(bob(), 0)).toThrow(expect.objectContaining({ code: "rate_limited", retryAfterS: 20 }));
    ring.configure(bobs(3));
    expect(() => ring.enter(bob(), 12_000)).toThrow(expect.objectContaining({ retryAfterS: 8 }));
    ring.configure(bobs(6));
    expect(() => ring.enter(bob(), 9_000)).toThrow(expect.objectContaining({ retryAfterS: 1 }));
    ring.enter(bob(), 10_000)();
    expect(ring.limitHeaders(bob(), 10_000)).toEqual([
      "x-ratelimit-limit-requests",
      "6",
      "x-ratelimit-remaining-requests",
      "0",
      "x-ratelimit-reset-requests",
      "60000ms",
    ]);
    const alice = ring.identify({ "x-api-key": "secret-of-alice" });
    for (let i = 0; i < 1_000; i += 1) ring.enter(alice, 0)();
    expect(ring.limitHeaders(alice, 0)).toEqual([]);
  });

  it("takes nothing of the minute for a request that finds no place", () => {
    const ring = new KeyRing([key("bob", { requestsPerMinute: 2, maxConcurrent: 1 })]);
    const bob = ring.identify({ "x-api-key": "secret-of-bob" });
    const leave = ring.enter(bob, 0);
    expect(() => ring.enter(bob, 0)).toThrow("under way at once");
    leave();
    expect(ring.limitHeaders(bob, 0)).toContain("1");
    ring.enter(bob, 0)();
    expect(() => ring.enter(bob, 0)).toThrow("requests a minute");
  });

  it("counts what other gateways have of the key, and takes over what they know of its minute", () => {
    const ring = new KeyRing([key("bob", { requestsPerMinute: 6, maxConcurrent: 3 })]);
    const bob = ring.identify({ "x-api-key": "secret-of-bob" });
    const remaining = (now: number) => ring.limitHeaders(bob, now)[3];
    const leave = ring.enter(bob, 0, undefined, 2);
    expect(() => ring.enter(bob, 0, undefined, 2)).toThrow("under way at once");
    expect(remaining(0)).toBe("5");
    leave();
    // All of them together refused it for its number: it took nothing of the minute.
    ring.giveBack(bob.key ?? key("bob"));
    expect(remaining(0)).toBe("6");
    ring.enter(bob, 0)();
    ring.spentByAll("bob", 0, 30_000);
    expect(remaining(0)).toBe("3");
    ring.refusedByAll(bob.key ?? key("bob"), 0, 4_000);
    expect(remaining(0)).toBe("0");
    expect(() => ring.enter(bob, 0)).toThrow(expect.objectContaining({ retryAfterS: 4 }));
    ring.enter(bob, 4_000)();
  });
});
