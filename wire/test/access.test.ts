import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { AccessKey } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { Access, type AccessRules, KeyRing } from "../src/index.ts";

const key = (name: string, admin = false): AccessKey => {
  return { name, key: `${name}-key`, models: ["*"], maxConcurrent: 0, requestsPerMinute: 0, admin };
};
const KEYS = [key("alice", true), key("bob")];

function access(rules: Partial<AccessRules> = {}): Access {
  const all = { keys: [], listen: { host: "0.0.0.0" }, operators: ["192.0.2.0/24"], hosts: [], origins: [], ...rules };
  return new Access(new KeyRing(all.keys), all, "box");
}

function from(remoteAddress: string, headers: IncomingHttpHeaders = {}): IncomingMessage {
  return { headers: { host: "box", ...headers }, socket: { remoteAddress } } as unknown as IncomingMessage;
}

const FORBIDDEN = expect.objectContaining({ code: "forbidden", status: 403 });
const UNKNOWN = expect.objectContaining({ code: "invalid_api_key", status: 401 });

describe("the inside of a program without keys that other machines reach", () => {
  it.each(["127.0.0.1", "::1", "::ffff:127.0.0.1", "192.0.2.9", "::ffff:192.0.2.9"])("is open to %s", (address) => {
    expect(access().visit(from(address), true)).toMatchObject({ reads: true, changes: true });
  });

  it.each(["198.51.100.1", "::ffff:198.51.100.1", "2001:db8::1", ""])(
    "is closed to %j, and says what to do",
    (address) => {
      const visit = () => access().visit(from(address), true);
      expect(visit).toThrow(FORBIDDEN);
      expect(visit).toThrow(/`operators`.*Set `keys`/);
      expect(access().visit(from(address), false)).toMatchObject({ changes: false });
    },
  );

  it.each(["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"])(
    "is closed to whom a proxy with %s stands in front of, wherever the proxy is",
    (header) => {
      for (const address of ["127.0.0.1", "192.0.2.9", "198.51.100.1"]) {
        for (const value of ["127.0.0.1", "192.0.2.9", "for=127.0.0.1", ""]) {
          expect(() => access().visit(from(address, { [header]: value }), true)).toThrow(FORBIDDEN);
        }
      }
    },
  );

  it("is open to a key that is known besides, wherever it comes from", () => {
    const rules = { keys: [], listen: { host: "0.0.0.0" }, operators: [], hosts: [], origins: [] };
    const besides = new Access(new KeyRing([], [key("gateway", true)]), rules, "box");
    const visit = (headers: IncomingHttpHeaders) => besides.visit(from("198.51.100.1", headers), true);
    expect(visit({ authorization: "Bearer gateway-key" })).toMatchObject({ name: "gateway", changes: true });
    expect(() => visit({ authorization: "Bearer other" })).toThrow(FORBIDDEN);
  });

  it("is everybody's where only this machine reaches it", () => {
    const rules = { listen: { host: "127.0.0.1" } };
    const behindProxy = from("127.0.0.1", { "x-forwarded-for": "198.51.100.1" });
    expect(access(rules).visit(behindProxy, true)).toMatchObject({ reads: true, changes: true });
  });
});

describe("the inside of a program with keys", () => {
  const asks = (address: string, headers: IncomingHttpHeaders, rules: Partial<AccessRules> = {}) =>
    access({ keys: KEYS, ...rules }).visit(from(address, headers), true);

  it("is read by any key and changed by an admin's", () => {
    const bob = asks("198.51.100.1", { authorization: "Bearer bob-key" });
    expect(bob).toMatchObject({ name: "bob", reads: true, changes: false });
    expect(asks("198.51.100.1", { "x-api-key": "alice-key" })).toMatchObject({ reads: true, changes: true });
  });

  it("is read by an operator without a key, and nothing else is", () => {
    expect(asks("192.0.2.9", {})).toMatchObject({ key: null, reads: true, changes: false });
    expect(() => access({ keys: KEYS }).visit(from("192.0.2.9"), false)).toThrow(UNKNOWN);
    expect(() => access({ keys: KEYS }).identify(from("192.0.2.9"))).toThrow(UNKNOWN);
  });

  it("is closed to a wrong key and to none, also from an operator and from this machine", () => {
    expect(() => asks("192.0.2.9", { authorization: "Bearer nope" })).toThrow(UNKNOWN);
    for (const address of ["127.0.0.1", "198.51.100.1"]) expect(() => asks(address, {})).toThrow(UNKNOWN);
    expect(() => asks("192.0.2.9", { "x-forwarded-for": "192.0.2.9" })).toThrow(UNKNOWN);
  });

  it("is closed to a page that came to an operator by a name of its own", () => {
    expect(() => asks("192.0.2.9", { host: "evil.example" })).toThrow(FORBIDDEN);
    expect(asks("192.0.2.9", { host: "farm.example" }, { hosts: ["farm.example"] })).toMatchObject({ reads: true });
  });
});

describe("a name that a stranger can have made lead here", () => {
  const EVIL = { host: "evil.example:8400" };
  const page = { ...EVIL, origin: "http://evil.example:8400" };
  const here = (headers: IncomingHttpHeaders) => from("127.0.0.1", headers);
  const local = (rules: Partial<AccessRules> = {}) => access({ listen: { host: "127.0.0.1" }, ...rules });

  it("shows neither the inside nor a page, where there are no keys", () => {
    expect(() => local().visit(here(EVIL), true)).toThrow(FORBIDDEN);
    expect(() => local().visit(here(EVIL), true)).toThrow(/"evil\.example:8400".*`hosts`/);
    expect(() => local().checkPage(here(EVIL))).toThrow(FORBIDDEN);
    expect(() => local().checkPage(here({ host: "localhost" }))).not.toThrow();
  });

  it("serves programs, which have no pages, and no page of its own", () => {
    expect(() => local().identify(here(EVIL))).not.toThrow();
    expect(() => local().identify(here(page))).toThrow(FORBIDDEN);
    expect(() => local().visit(here(page), false)).toThrow(FORBIDDEN);
    expect(() => local().identify(here({ ...EVIL, "sec-fetch-site": "same-origin" }))).toThrow(FORBIDDEN);
    expect(() => local().identify(here({ ...EVIL, "sec-fetch-site": "none" }))).not.toThrow();
    expect(() => local().identify(here({ ...EVIL, origin: "null" }))).toThrow(FORBIDDEN);
  });

  it("serves pages that the owner knows, and any page under the owner's own names", () => {
    const known = { ...EVIL, origin: "http://chat.example" };
    expect(() => local({ origins: ["http://chat.example"] }).identify(here(known))).not.toThrow();
    expect(() => local().identify(here({ ...EVIL, origin: "http://localhost:3000" }))).not.toThrow();
    expect(() => local({ hosts: ["evil.example"] }).identify(here(page))).not.toThrow();
    expect(() => local().identify(here({ ...page, host: "127.0.0.1:8400" }))).not.toThrow();
  });

  it("does not matter to who has a key, unless the owner lists names", () => {
    const keyed = { ...page, authorization: "Bearer alice-key" };
    expect(() => local({ keys: KEYS }).visit(here(keyed), true)).not.toThrow();
    expect(() => local({ keys: KEYS }).checkPage(here(EVIL))).not.toThrow();
    const listed = local({ keys: KEYS, hosts: ["farm.example"] });
    expect(() => listed.visit(here(keyed), true)).toThrow(FORBIDDEN);
    expect(() => listed.identify(here(keyed))).toThrow(FORBIDDEN);
    expect(() => listed.checkPage(here(EVIL))).toThrow(FORBIDDEN);
    expect(() => listed.visit(here({ ...keyed, host: "farm.example" }), true)).not.toThrow();
  });

  it("follows a change of the rules", () => {
    const door = local();
    door.configure({ keys: [], listen: { host: "127.0.0.1" }, operators: [], hosts: ["evil.example"], origins: [] });
    expect(() => door.visit(here(EVIL), true)).not.toThrow();
    door.configure({ keys: KEYS, listen: { host: "127.0.0.1" }, operators: [], hosts: [], origins: [] });
    expect(() => door.visit(here({ host: "box" }), true)).toThrow(UNKNOWN);
  });
});
