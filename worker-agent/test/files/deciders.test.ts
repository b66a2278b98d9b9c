import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agentConfigSchema } from "../../src/index.ts";
import { Arrival } from "../../src/files/arrival.ts";
import { ByteRate } from "../../src/files/byte-rate.ts";
import { readContentRange, readRange } from "../../src/files/byte-range.ts";
import { choosePeer } from "../../src/files/choose-peer.ts";
import { leftMs, NOT_COMING, speedOf } from "../../src/files/coming-file.ts";
import { FileStates } from "../../src/files/file-states.ts";
import { readListing } from "../../src/files/listing.ts";
import { PeerRates } from "../../src/files/peer-rates.ts";
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

const peer = (url: string) => ({ url, ca: null, apiKey: null });
const hash = (digit: string) => digit.repeat(64);
const GB = 1e9;
const MB = 1e6;

describe("the peer of a file", () => {
  const offer = (url: string, sha256: string | null, shared: number | null = null) => ({
    peer: peer(url),
    entry: { path: "f", models: ["m"], state: "here" as const, bytes: 40 * GB, sha256 },
    shared,
  });
  const speeds = (known: Record<string, number> = {}, limit = 0) => ({
    of: (url: string) => known[url] ?? null,
    limit,
  });
  const urlOf = (chosen: ReturnType<typeof choosePeer>) =>
    chosen.kind === "from" ? chosen.source.peer.url : chosen.kind;
  const all = ["a", "b", "c"].map((url) => offer(url, hash("1")));

  it("has the hash that is wanted, else the first one's, and did not fail just now", () => {
    const offers = [offer("a", hash("1")), offer("b", hash("2")), offer("c", hash("1"))];
    const from = (wanted: string | null, ...failed: string[]) =>
      urlOf(choosePeer(offers, wanted, new Set(failed), speeds()));
    expect(from(null)).toBe("a");
    expect(from(hash("2"))).toBe("b");
    expect(from(null, "a")).toBe("c");
    expect(from(null, "a", "c")).toBe("failed");
  });

  it("is the one from which it is here soonest, as measured, with a forecast", () => {
    const known = { a: 50 * MB, b: 400 * MB, c: 100 * MB };
    expect(choosePeer(all, null, new Set(), speeds(known))).toMatchObject({
      source: { peer: { url: "b" } },
      ms: 100_000,
      others: 2,
    });
    expect(urlOf(choosePeer(all, null, new Set(["b"]), speeds(known)))).toBe("c");
  });

  it("is one that was not measured yet before those that were, in the order of the list, without a forecast", () => {
    const from = (known: Record<string, number>) => choosePeer(all, null, new Set(), speeds(known));
    expect(urlOf(from({}))).toBe("a");
    expect(from({ a: 400 * MB })).toMatchObject({ source: { peer: { url: "b" } }, ms: null });
    expect(urlOf(from({ a: 400 * MB, b: 50 * MB }))).toBe("c");
  });

  it("shares its own limit with those who take from it, and all share the limit here", () => {
    const shared = [offer("a", hash("1"), 20 * MB), offer("b", hash("1")), offer("c", hash("1"), 30 * MB)];
    const from = (known: Record<string, number>, limit = 0) =>
      choosePeer(shared, null, new Set(), speeds(known, limit));
    expect(urlOf(from({}))).toBe("b");
    expect(urlOf(from({ b: 25 * MB }))).toBe("c");
    expect(from({ a: 400 * MB, b: 25 * MB, c: 10 * MB })).toMatchObject({
      source: { peer: { url: "b" } },
      ms: 1_600_000,
    });
    expect(from({ a: 400 * MB, b: 400 * MB, c: 400 * MB }, 10 * MB)).toMatchObject({ ms: 4_000_000 });
  });

  it("is one from which nothing came only when there is no other", () => {
    expect(urlOf(choosePeer(all, null, new Set(), speeds({ a: 0, b: 1, c: 0 })))).toBe("b");
    expect(choosePeer(all, null, new Set(["b"]), speeds({ a: 0, b: 1, c: 0 }))).toMatchObject({
      source: { peer: { url: "a" } },
      ms: null,
    });
  });

  it("is looked for later when one still reads the file, and all are told of when none has it", () => {
    const away = { peer: peer("b"), why: "it does not answer" };
    expect(choosePeer([offer("a", null), away], null, new Set(), speeds())).toEqual({ kind: "later" });
    expect(choosePeer([away, offer("c", hash("3"))], hash("4"), new Set(), speeds())).toEqual({
      kind: "nobody",
      why: "c: its file has another SHA-256; b: it does not answer",
    });
  });
});

describe("a peer's limit", () => {
  const shared = (sending: unknown) => readListing(JSON.stringify({ files: [], sending }))?.shared;

  it("is shared with those who take already; where it tells of none, there is none", () => {
    expect(shared({ takers: 3, bytes_per_second: 100 * MB })).toBe(25 * MB);
    for (const none of [{ takers: 3, bytes_per_second: 0 }, undefined, null, "fast"]) expect(shared(none)).toBeNull();
  });
});

describe("a peer's speed", () => {
  it("is a mean of which the newest counts most, and is forgotten after an hour", () => {
    const rates = new PeerRates();
    expect(rates.of("a", 0)).toBeNull();
    rates.came("a", { bytes: 100 * MB, ms: 1_000, isAll: true }, 1_000);
    rates.came("a", { bytes: 100 * MB, ms: 500, isAll: false }, 2_000);
    expect([rates.of("a", 2_000), rates.of("b", 2_000)]).toEqual([130 * MB, null]);
    expect(rates.of("a", 2_000 + 3_600_000)).toBe(130 * MB);
    expect(rates.of("a", 2_001 + 3_600_000)).toBeNull();
  });

  it("is told by what broke off or dragged on, and not by a small file, or a fault at once", () => {
    const rates = new PeerRates();
    rates.came("a", { bytes: 2 * MB, ms: 2_000, isAll: true }, 0);
    rates.came("a", { bytes: 2 * MB, ms: 2, isAll: false }, 0);
    rates.came("a", { bytes: 0, ms: 10, isAll: false }, 0);
    expect(rates.of("a", 0)).toBeNull();
    rates.came("a", { bytes: 30_000, ms: 60_000, isAll: false }, 0);
    expect(rates.of("a", 0)).toBe(500);
  });
});

describe("what came of a file", () => {
  const come = (...steps: [fetched: number, now: number][]) => {
    const arrival = new Arrival();
    for (const [fetched, now] of steps) arrival.reached(fetched, now);
    return arrival;
  };

  it("counts from the first piece, and not from when it was asked for, up to the last one", () => {
    const arrival = come([5 * MB, 1_000], [6 * MB, 9_000], [45 * MB, 9_040]);
    expect(arrival.began).toEqual({ at: 9_000, fetched: 5 * MB });
    expect(arrival.came(true, 9_999)).toEqual({ bytes: 40 * MB, ms: 40, isAll: true });
    expect(arrival.came(false, 9_999)).toEqual({ bytes: 40 * MB, ms: 999, isAll: false });
  });

  it("is nothing for as long as it was waited for where nothing came, which a peer is known by", () => {
    expect(come().came(false, 9_000)).toBeNull();
    const arrival = come([5 * MB, 1_000]);
    expect([arrival.began, arrival.came(false, 31_000)]).toEqual([null, { bytes: 0, ms: 30_000, isAll: false }]);
    const rates = new PeerRates();
    rates.came("a", { bytes: 0, ms: 30_000, isAll: false }, 31_000);
    expect(rates.of("a", 31_000)).toBe(0);
  });

  it("is enough to know its peer by after some of it, or some time after its first piece", () => {
    expect(come([0, 0]).isEnough(60_000)).toBe(false);
    const slow = come([0, 0], [1, 60_000]);
    expect([slow.isEnough(69_999), slow.isEnough(70_000)]).toEqual([false, true]);
    expect(come([5 * MB, 0], [70 * MB, 1]).isEnough(1)).toBe(false);
    expect(come([5 * MB, 0], [73 * MB, 1]).isEnough(1)).toBe(true);
  });

  it("makes a peer known whenever it is enough, so that each is tried once", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(80 * MB), fc.nat(20_000)), { minLength: 1 }), (pieces) => {
        const arrival = come([0, 0]);
        let [at, now] = [0, 0];
        for (const [bytes, ms] of pieces) arrival.reached((at += bytes), (now += ms));
        const rates = new PeerRates();
        rates.came("a", arrival.came(false, now) ?? { bytes: 0, ms: 0, isAll: true }, now);
        expect(!arrival.isEnough(now) || rates.of("a", now) !== null).toBe(true);
      }),
    );
  });
});

describe("the files of a model", () => {
  const states = () =>
    new FileStates([
      { path: "1", sha256: null, models: ["m", "n"] },
      { path: "2", sha256: null, models: ["m"] },
    ]);
  const speedFor = ({ from }: { from: string | null }) => (from === null ? null : 100 * MB);

  it("are as large as they are together, and here as far as is known", () => {
    const files = states();
    expect(files.weightsOf("other", speedFor)).toEqual({ bytes: null, absent: false, leftMs: 0 });
    expect(files.weightsOf("m", speedFor)).toEqual({ bytes: null, absent: false, leftMs: 0 });
    files.saw("1", 3 * GB);
    files.saw("2", 2 * GB);
    expect(files.weightsOf("m", speedFor)).toEqual({ bytes: 5 * GB, absent: false, leftMs: 0 });
  });

  it("take the time that what is missing of them takes to come", () => {
    const files = states();
    files.saw("1", 3 * GB);
    files.saw("2", null);
    expect(files.weightsOf("m", speedFor)).toEqual({ bytes: null, absent: true, leftMs: null });
    expect(files.weightsOf("n", speedFor)).toEqual({ bytes: 3 * GB, absent: false, leftMs: 0 });
    files.comes("2", { ...NOT_COMING, state: "fetching", bytes: 2 * GB, fetched: GB, from: "a" });
    expect(files.weightsOf("m", speedFor)).toEqual({ bytes: 5 * GB, absent: true, leftMs: 10_000 });
    files.saw("2", 2 * GB);
    expect(files.weightsOf("m", speedFor)).toEqual({ bytes: 5 * GB, absent: false, leftMs: 0 });
  });

  it("are not known to come where one of them could not be fetched, however much of it is here", () => {
    const files = states();
    files.saw("1", 3 * GB);
    files.saw("2", null);
    files.comes("2", { ...NOT_COMING, state: "failed", bytes: 2 * GB, fetched: GB, from: "a", error: "a: no room" });
    expect(files.weightsOf("m", speedFor)).toEqual({ bytes: 5 * GB, absent: true, leftMs: null });
  });

  it("come as fast as they did since the fetch began, and before a second is over as their peer is known for", () => {
    const coming = { ...NOT_COMING, state: "fetching" as const, bytes: GB, fetched: 300 * MB, expected: 70 * MB };
    const began = { at: 5_000, fetched: 100 * MB };
    expect(speedOf(coming, 7_000)).toBe(70 * MB);
    expect(speedOf({ ...coming, began }, 5_999)).toBe(70 * MB);
    expect(speedOf({ ...coming, began }, 7_000)).toBe(100 * MB);
    expect([leftMs(coming, 100 * MB), leftMs(coming, 0), leftMs(coming, null)]).toEqual([7_000, null, null]);
  });
});
