import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agentConfigSchema } from "../../src/index.ts";
import { ByteRate } from "../../src/files/byte-rate.ts";
import { readContentRange, readRange } from "../../src/files/byte-range.ts";
import { choosePeer } from "../../src/files/choose-peer.ts";
import { whyNoFileName } from "../../src/files/file-name.ts";

describe("a range of bytes", () => {
  it.each<[string | undefined, number, unknown]>([
    ["bytes=0-", 10, { first: 0, last: 9 }],
    ["bytes=3-5", 10, { first: 3, last: 5 }],
    ["bytes=3-99", 10, { first: 3, last: 9 }],
    ["bytes=-4", 10, { first: 6, last: 9 }],
    ["bytes=-99", 10, { first: 0, last: 9 }],
    ["bytes=10-", 10, "none"],
    ["bytes=-0", 10, "none"],
    ["bytes=0-", 0, "none"],
    ["bytes=5-3", 10, null],
    ["bytes=0-1,3-4", 10, null],
    ["bytes=-", 10, null],
    ["items=0-1", 10, null],
    [undefined, 10, null],
  ])("%s of %i bytes", (header, bytes, range) => {
    expect(readRange(header, bytes)).toEqual(range);
  });

  it("never leads out of the file", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), fc.nat(), fc.nat(50), (text, from, to, bytes) => {
        for (const header of [text, `bytes=${from}-${to}`, `bytes=-${to}`, `bytes=${from}-`]) {
          const range = readRange(header, bytes);
          if (range === null || range === "none") continue;
          expect(range.first).toBeGreaterThanOrEqual(0);
          expect(range.last).toBeGreaterThanOrEqual(range.first);
          expect(range.last).toBeLessThan(bytes);
        }
      }),
    );
  });

  it("of an answer is read, or not taken", () => {
    expect(readContentRange("bytes 5-9/10")).toEqual({ first: 5, bytes: 10 });
    for (const header of [null, "bytes */10", "bytes 5-9/*", "5-9/10"]) expect(readContentRange(header)).toBeNull();
  });
});

describe("a rate of bytes", () => {
  it("holds what passes to it, but for a first burst", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ bytes: fc.nat(5_000), idle: fc.nat(2_000) })), (passes) => {
        const rate = new ByteRate(1_000);
        let now = 0;
        let sum = 0;
        for (const { bytes, idle } of passes) {
          sum += bytes;
          now += rate.passed(bytes, now);
          expect(sum).toBeLessThanOrEqual(now + 100 + 1e-6);
          now += idle;
        }
      }),
    );
    expect(new ByteRate(0).passed(1e12, 0)).toBe(0);
  });
});

describe("a file's name", () => {
  it.each(["a.gguf", "org/model-00001-of-00002.safetensors", "with space.bin", "ä.gguf"])("may be %j", (path) => {
    expect(whyNoFileName(path)).toBeNull();
  });

  it.each(["", "/etc/passwd", "../a", "a/../b", "a//b", "./a", "a/", ".hidden", "a/.git/config", "a\\b", "a\0b"])(
    "may not be %j",
    (path) => {
      expect(whyNoFileName(path)).toEqual(expect.any(String));
      const config = {
        files: { directory: "models" },
        models: [{ name: "m", url: "http://h", command: "c", files: [path] }],
      };
      expect(agentConfigSchema.safeParse(config).success).toBe(false);
    },
  );
});

describe("the peers of a file", () => {
  const peer = (url: string) => ({ url, ca: null, apiKey: null });
  const hash = (digit: string) => digit.repeat(64);
  const offer = (url: string, sha256: string | null) => ({
    peer: peer(url),
    entry: { path: "f", models: ["m"], state: "here" as const, bytes: 5, sha256 },
  });
  const urls = (chosen: ReturnType<typeof choosePeer>) =>
    chosen.kind === "from" ? chosen.sources.map(({ peer: { url } }) => url) : chosen;

  it("are those with the hash that is wanted, else with the first one's", () => {
    const offers = [offer("a", hash("1")), offer("b", hash("2")), offer("c", hash("1"))];
    expect(urls(choosePeer(offers, null, new Set()))).toEqual(["a", "c"]);
    expect(urls(choosePeer(offers, hash("2"), new Set()))).toEqual(["b"]);
    expect(urls(choosePeer(offers, null, new Set(["a"])))).toEqual(["c", "a"]);
  });

  it("are asked later when one still reads the file, and told of one by one when none has it", () => {
    const away = { peer: peer("b"), why: "it does not answer" };
    expect(choosePeer([offer("a", null), away], null, new Set())).toEqual({ kind: "later" });
    expect(choosePeer([away, offer("c", hash("3"))], hash("4"), new Set())).toEqual({
      kind: "nobody",
      why: "c: its file has another SHA-256; b: it does not answer",
    });
  });
});
