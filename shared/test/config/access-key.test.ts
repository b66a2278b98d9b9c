import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  accessKey,
  checkKeys,
  hashedKey,
  hosts,
  isHashedKey,
  keyDigest,
  operators,
} from "../../src/config/access-key.ts";
import { parseConfig } from "../../src/config/parse.ts";

const HEX = createHash("sha256").update("given").digest("hex");

describe("a key in a file", () => {
  it.each(["given", `sha256:${HEX}`, `SHA256:${HEX.toUpperCase()}`])("%s has the digest of the key", (key) => {
    expect(accessKey.safeParse({ name: "a", key }).success).toBe(true);
    expect(keyDigest(key)).toBe(HEX);
  });

  it.each(["sha256:", `sha256:${HEX}0`, `sha256:${HEX.slice(1)}`, `sha256:${"g".repeat(64)}`])(
    "%s is neither a key nor a hash",
    (key) => {
      expect(accessKey.safeParse({ name: "a", key }).error?.message).toMatch(/64 hex digits/);
    },
  );

  it("is told from its hash", () => {
    expect(isHashedKey("given")).toBe(false);
    expect(isHashedKey(hashedKey("given"))).toBe(true);
    expect(hashedKey("given")).toBe(`sha256:${HEX}`);
  });

  it("is each one's own, also where one is given and the other hashed", () => {
    const problems: string[] = [];
    const keys = [
      { name: "a", key: "given" },
      { name: "b", key: `sha256:${HEX}` },
      { name: "a", key: "other" },
    ].map((key) => accessKey.parse(key));
    checkKeys({ keys }, (path, message) => problems.push(`${path.join(".")} ${message}`));
    expect(problems).toEqual([
      "keys.1.key has the same value as another key",
      'keys.2.name another key is already named "a"',
    ]);
  });
});

const schema = z.object({ operators, hosts });

describe("who may come in", () => {
  it("is told by addresses and ranges, and by names", () => {
    const file = {
      operators: ["192.0.2.7", "192.0.2.0/24", "::1", "2001:db8::/32", "::ffff:192.0.2.7"],
      hosts: ["farm.example.com", "*.example.com", "box", "*", "my_box.lan"],
    };
    expect(schema.parse(file)).toEqual(file);
    expect(schema.parse({})).toEqual({ operators: [], hosts: [] });
  });

  it.each([
    ["operators", "192.0.2.256"],
    ["operators", "192.0.2.0/33"],
    ["operators", "2001:db8::/129"],
    ["operators", "192.0.2.0/-1"],
    ["operators", "192.0.2"],
    ["operators", "box.lan"],
    ["operators", ""],
    ["hosts", "http://farm.example.com"],
    ["hosts", "farm.example.com:8400"],
    ["hosts", "farm.*.com"],
    ["hosts", "*."],
    ["hosts", "a b"],
    ["hosts", ""],
  ])("%s cannot hold %j, and its line is told", (list, entry) => {
    const text = `${list}:\n  - ${list === "hosts" ? "good.example" : "192.0.2.1"}\n  - ${JSON.stringify(entry)}\n`;
    const parsed = parseConfig(schema, text, {});
    expect(parsed).toMatchObject({ ok: false, problems: [{ path: `${list}[1]`, line: 3 }] });
    expect(parsed.ok ? "" : parsed.problems[0]?.message).toMatch(/^must be (an address|a name) such as /);
  });
});
