import { describe, expect, it } from "vitest";
import { accessKey } from "../../src/config/access-key.ts";
import { duration, httpUrl, isLoopback, listen, name, size, wholeNumber } from "../../src/config/pieces.ts";

describe("values of a file", () => {
  it.each([
    [duration, "5s", 5_000],
    [duration, 0, 0],
    [size, "2kb", 2_048],
    [size, 0, 0],
    [wholeNumber(0, 10), 10, 10],
    [wholeNumber(0, 10), "7", 7],
    [httpUrl, "http://192.0.2.5:8401/", "http://192.0.2.5:8401"],
    [httpUrl, "https://host/prefix/", "https://host/prefix"],
    [httpUrl, "http://[::1]:80", "http://[::1]"],
    [name, "gpu box é", "gpu box é"],
    [listen(8_400), undefined, { host: "127.0.0.1", port: 8_400 }],
    [listen(8_400), { port: "0" }, { host: "127.0.0.1", port: 0 }],
    [
      accessKey,
      { name: "a", key: "k" },
      { name: "a", key: "k", models: ["*"], maxConcurrent: 0, requestsPerMinute: 0, admin: false },
    ],
  ])("%#: %j is read", (schema, given, expected) => {
    expect(schema.parse(given)).toEqual(expected);
  });

  it.each([
    [duration, 5, /duration such as/],
    [duration, "5 parsecs", /duration such as/],
    [size, 5, /size such as/],
    [size, "-1kb", /size such as/],
    [wholeNumber(0, 10), 11, /at most 10/],
    [wholeNumber(0, 10), -1, /at least 0/],
    [wholeNumber(0, 10), 1.5, /whole number/],
    [wholeNumber(0, 10), "1e1", /whole number/],
    [httpUrl, "host:80", /http:\/\/ or https:\/\//],
    [httpUrl, "file:///etc/passwd", /http:\/\/ or https:\/\//],
    [httpUrl, "http://user:pass@host", /credentials/],
    [httpUrl, "http://host/?key=1", /query/],
    [name, "", /empty/],
    [name, "a\nb", /control characters/],
    [listen(1), { port: 65_536 }, /65535/],
    [listen(1), { prot: 1 }, /prot/],
    [accessKey, { name: "a", key: "" }, /empty/],
    [accessKey, { name: "a", key: "k\n" }, /line ends/],
    [accessKey, { name: "a", key: "two words" }, /blanks/],
    [accessKey, { name: "a", key: "ключ" }, /plain ASCII/],
  ])("%#: %j is refused", (schema, given, message) => {
    const result = schema.safeParse(given);
    expect(result.success).toBe(false);
    expect(result.error?.message).toMatch(message);
  });

  it.each([
    ["127.0.0.1", true],
    ["127.8.0.1", true],
    ["localhost", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["[::1]", true],
    ["LocalHost", true],
    ["0.0.0.0", false],
    ["::", false],
    ["::ffff:192.0.2.1", false],
    ["192.0.2.1", false],
    ["127.0.0.1.example.org", false],
    ["localhost.example.org", false],
  ])("%s is reached by this machine alone: %s", (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});
