import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { catalogModel, catalogReport, type PollResult } from "@farmgate/engines";
import type { CatalogEvent } from "../../src/catalog/types.ts";
import { KnownPolls } from "../../src/together/known-polls.ts";
import { readDrains, readNews } from "../../src/together/read-news.ts";
import { asSeenHere, toldOf } from "../../src/together/told-events.ts";

const name = fc.string({ minLength: 1, maxLength: 20 });
const ago = fc.nat(600_000);
const pair = { worker: name, model: name };
const failing = { ...pair, ago, stalled: fc.boolean(), reason: fc.string() };

/** What is seen of a worker, with how long ago its moment was. */
const seen = fc.oneof(
  fc.record({ type: fc.constant("refused"), worker: name }),
  fc.record({ type: fc.constantFrom("answered", "tried", "trial_over"), ...pair, ago }),
  fc.record({ type: fc.constantFrom("served", "load_failed"), ...pair }),
  fc.record({ type: fc.constant("disowned"), ...pair, reason: fc.string() }),
  fc.record({ type: fc.constant("disowned"), ...pair, api: fc.constant("embeddings"), reason: fc.string() }),
  fc.record({ type: fc.constant("faulted"), ...failing, broke: fc.boolean() }),
  fc.record({ type: fc.constant("silent"), ...failing }),
);

function at(event: object, now: number): CatalogEvent {
  const { ago: before, ...rest } = event as { ago?: number; type: string };
  if (before === undefined) return rest as CatalogEvent;
  const moment = rest.type === "faulted" || rest.type === "silent" ? "sentAt" : "at";
  return { ...rest, [moment]: now - before } as unknown as CatalogEvent;
}

describe("an event that is told", () => {
  it("has its moment on the clock of who takes it, and comes back as it was", () => {
    fc.assert(
      fc.property(seen, fc.nat(1e9), fc.nat(1e9), (event, here, there) => {
        const told = toldOf(at(event, here), here);
        expect(told).not.toBeNull();
        if (told === null) return;
        const read = readNews(JSON.parse(JSON.stringify({ kind: "catalog", ...told })));
        expect(read).toEqual({ kind: "catalog", ...told });
        const taken = asSeenHere(told, there);
        expect(taken).toEqual(at(event, there));
        expect(asSeenHere(toldOf(taken, there) ?? told, here)).toEqual(at(event, here));
      }),
    );
  });

  it.each<CatalogEvent>([
    { type: "configured", workers: [] },
    { type: "drain", worker: "a" },
    { type: "resume", worker: "a" },
    {
      type: "faulted",
      worker: "a",
      model: "m",
      sentAt: 0,
      stalled: false,
      broke: false,
      reason: "no connection",
      unreached: true,
    },
  ])("is none of the owner's, and no lack of a way from here: %j", (event) => {
    expect(toldOf(event, 1)).toBeNull();
  });
});

describe("news from other machines", () => {
  it("are read without ever failing, whatever they are", () => {
    const kinds = [
      "catalog",
      "polled",
      "drain",
      "answered-prefix",
      "learned",
      "rated",
      "first-byte",
      "asked",
      "ended",
      "registered",
    ];
    const nearly = fc.record({
      kind: fc.constantFrom(...kinds),
      event: fc.oneof(seen, fc.anything()),
      worker: fc.oneof(name, fc.anything()),
      hash: fc.oneof(name, fc.anything()),
      key: fc.oneof(name, fc.anything()),
      ageMs: fc.oneof(fc.nat(), fc.anything()),
      result: fc.oneof(fc.constant({ kind: "dead", reason: "x" }), fc.anything()),
      note: fc.anything(),
      answer: fc.anything(),
    });
    fc.assert(
      fc.property(fc.oneof(nearly, fc.anything()), (value) => {
        readNews(value);
        readDrains(value);
      }),
    );
    expect(readNews({ kind: "polled", worker: "a", hash: "h", ageMs: -1, result: null })).toBeNull();
    expect(readNews({ kind: "catalog", ageMs: 0, event: { type: "configured", workers: [] } })).toBeNull();
    // A figure of no answer, and a moment after which no later word would count.
    const answer = { found: "warm", streamed: true, firstByteMs: 1, ms: 1e300 };
    expect(readNews({ kind: "learned", worker: "a", key: "m", answer })).toBeNull();
    expect(readDrains({ drains: [{ worker: "a", draining: true, at: 1e300 }] })).toEqual([]);
    const [draining, report] = [{ worker: "a", draining: true }, catalogReport([catalogModel("m", "warm")])];
    for (const moment of [1e308, 2 ** 53]) expect(readDrains({ drains: [{ ...draining, at: moment }] })).toEqual([]);
    for (const slots of [-1e308, -1, 0]) {
      const result = { kind: "ok", engine: "agent", report: { ...report, slots } };
      expect(readNews({ kind: "polled", worker: "a", hash: "h", ageMs: 0, result })).toBeNull();
    }
    expect(readDrains({ drains: [{ worker: "a", draining: true, at: 1 }, { worker: "b" }] })).toHaveLength(1);
  });
});

describe("polls that are told", () => {
  const ok = (...names: string[]): PollResult => ({
    kind: "ok",
    engine: "agent",
    report: catalogReport(names.map((id) => catalogModel(id, "warm"))),
  });

  it("are told whole once, and then by their hash until they change", () => {
    const [here, there] = [new KnownPolls(), new KnownPolls()];
    const tell = (result: PollResult) => {
      const news = { kind: "polled", worker: "a", ageMs: 0, ...here.made("a", result) };
      const read = readNews(JSON.parse(JSON.stringify(news)));
      if (read?.kind !== "polled") throw new Error("it was not read");
      return { whole: read.result !== null, result: there.told("a", read) };
    };
    expect(tell(ok("m"))).toEqual({ whole: true, result: ok("m") });
    expect(tell(ok("m"))).toEqual({ whole: false, result: ok("m") });
    expect(tell(ok("m", "n"))).toEqual({ whole: true, result: ok("m", "n") });
  });

  it("are known by their hash to who made the same one, and to nobody else", () => {
    const [here, same, other] = [new KnownPolls(), new KnownPolls(), new KnownPolls()];
    here.made("a", ok("m"));
    same.made("a", ok("m"));
    other.made("a", ok("n"));
    const told = here.made("a", ok("m"));
    expect([same.told("a", told), other.told("a", told)]).toEqual([ok("m"), null]);
    same.keepOnly(new Set());
    expect(same.told("a", told)).toBeNull();
  });
});
