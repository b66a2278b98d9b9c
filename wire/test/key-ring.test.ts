import type { AccessKey } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { KeyRing } from "../src/index.ts";

const key = (name: string, changes: Partial<AccessKey> = {}): AccessKey => ({
  name,
  key: `secret-of-${name}`,
  models: ["*"],
  maxConcurrent: 0,
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
    const leave = [ring.enter(bob), ring.enter(bob)];
    const refusal = expect.objectContaining({ code: "rate_limited", retryAfterS: 1 });
    expect(() => ring.enter(bob)).toThrow(refusal);
    ring.enter(ring.identify({ "x-api-key": "secret-of-alice" }));
    ring.configure([key("bob", { maxConcurrent: 1 })]);
    const again = ring.identify({ "x-api-key": "secret-of-bob" });
    leave[0]?.();
    expect(() => ring.enter(again)).toThrow(refusal);
    leave[1]?.();
    expect(() => ring.enter(again)).not.toThrow();
  });
});
