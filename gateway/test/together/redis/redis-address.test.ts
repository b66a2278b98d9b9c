import { describe, expect, it } from "vitest";
import { parseRedisUrl, placeOf } from "../../../src/together/redis/redis-address.ts";

const plain = {
  kind: "single",
  nodes: [{ host: "h", port: 6379 }],
  master: null,
  db: 0,
  username: null,
  password: null,
  tls: false,
};

describe("a URL of Redis", () => {
  it.each([
    ["redis://h", {}],
    ["redis://h/", {}],
    ["redis://h:7000/2", { nodes: [{ host: "h", port: 7000 }], db: 2 }],
    ["rediss://h", { tls: true }],
    ["redis://:p%40ss@h", { password: "p@ss" }],
    ["redis://user:a:b@h", { username: "user", password: "a:b" }],
    ["redis://:100%@h", { password: "100%" }],
    ["redis://:p@/?#w@h/1", { password: "p@/?#w", db: 1 }],
    ["redis://[::1]:7000", { nodes: [{ host: "::1", port: 7000 }] }],
    [
      "redis+sentinel://h,i:5000/farm",
      {
        kind: "sentinel",
        nodes: [
          { host: "h", port: 26379 },
          { host: "i", port: 5000 },
        ],
        master: "farm",
      },
    ],
    [
      "rediss+sentinel://u:p@h:1/m/3",
      {
        kind: "sentinel",
        nodes: [{ host: "h", port: 1 }],
        master: "m",
        db: 3,
        username: "u",
        password: "p",
        tls: true,
      },
    ],
    [
      "redis+cluster://h,i",
      {
        kind: "cluster",
        nodes: [
          { host: "h", port: 6379 },
          { host: "i", port: 6379 },
        ],
      },
    ],
  ])("says what %s says", (url, expected) => {
    expect(parseRedisUrl(url)).toEqual({ ...plain, ...expected });
  });

  it.each([
    ["http://h", /must be redis:/],
    ["127.0.0.1:6379", /must be redis:/],
    ["redis://", /must name a host/],
    ["redis://h:99999", /must name a host/],
    ["redis://h:port", /must name a host/],
    ["redis://h,i", /several servers/],
    ["redis://h/one", /number of a database/],
    ["redis://h/1/2", /number of a database/],
    ["redis+sentinel://h", /name the server/],
    ["redis+cluster://h/1", /but one/],
    ["redis://user@h", /without a password/],
  ])("is refused as %s", (url, message) => {
    expect(parseRedisUrl(url)).toMatch(message);
  });

  it("never gives a password away, in what is wrong with it or where it is", () => {
    expect(parseRedisUrl("redis://u:secret@h,i")).not.toMatch(/secret/);
    expect(parseRedisUrl("redis://u:secret@h/x")).not.toMatch(/secret/);
    const address = parseRedisUrl("redis+sentinel://u:secret@h,[::1]:1/m");
    expect(typeof address === "string" ? address : placeOf(address)).toBe("m of h:26379, [::1]:1");
  });
});
