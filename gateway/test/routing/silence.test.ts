import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FirstByteView } from "../../src/routing/first-bytes.ts";
import { type Asked, silentPairs } from "../../src/routing/silence.ts";
import { model, worker, type WorkerSketch } from "./farm.ts";

const SENT = 100_000;
const ENOUGH = 12_000;

const asked = (more: Partial<Asked> = {}): Asked => ({
  worker: "a",
  key: "m",
  model: "m",
  api: "chat",
  streamed: true,
  since: SENT,
  bytes: 100,
  foundWarm: true,
  headCame: false,
  lastDataAt: null,
  ...more,
});

const seen: FirstByteView = { enoughMs: () => ENOUGH, answeredAt: () => SENT - 1 };
const lists = (more: WorkerSketch = {}, catalogAt: number | null = SENT + 5_000) => ({
  ...worker("a", { models: [model("m", "warm"), model("n", "warm")], ...more }),
  catalogAt,
});
const silentAt = (
  now: number,
  requests: readonly Asked[] = [asked()],
  entry = lists(),
  view: FirstByteView = seen,
): string[] => silentPairs(requests, [entry], view, now).map(({ worker: name, model: of }) => `${name}:${of}`);
const LATE = SENT + ENOUGH + 1;

describe("a pair is silent", () => {
  it("when its oldest request has waited for longer than enough, and says so in words", () => {
    expect(silentAt(LATE - 1)).toEqual([]);
    expect(silentPairs([asked(), asked({ since: SENT + 9_000 })], [lists()], seen, LATE)).toEqual([
      {
        worker: "a",
        model: "m",
        sentAt: SENT,
        stalled: false,
        reason: "no first byte there for 12 s, where 12 s are enough",
      },
    ]);
  });

  it("and no other pair with it", () => {
    const other = asked({ key: "n", model: "n", since: SENT + 5_000 });
    expect(silentAt(LATE, [asked(), other, asked({ worker: "b" })])).toEqual(["a:m"]);
  });

  it("though answers of it came before that request was sent", () => {
    expect(silentAt(LATE, [asked(), asked({ since: 1, lastDataAt: SENT - 1 })])).toEqual(["a:m"]);
  });

  it("by its trial, whatever still waits from before", () => {
    const entry = lists({ open: { m: SENT + 1_000 } });
    const old = asked();
    const trial = asked({ since: SENT + 2_000 });
    expect(silentAt(LATE, [old], entry)).toEqual([]);
    expect(silentAt(LATE, [old, trial], entry)).toEqual([]);
    expect(silentPairs([old, trial], [entry], seen, LATE + 2_000)).toMatchObject([{ sentAt: SENT + 2_000 }]);
  });
});

describe("a pair is not silent", () => {
  const cases: [string, Asked[], ReturnType<typeof lists>, FirstByteView?][] = [
    ["that serves another at this moment", [asked(), asked({ since: 1, lastDataAt: SENT })], lists()],
    ["of which an answer has ended since", [asked()], lists(), { ...seen, answeredAt: () => SENT + 1 }],
    ["of which nothing was learned", [asked()], lists(), { ...seen, enoughMs: () => null }],
    ["whose model was not loaded", [asked({ foundWarm: false })], lists()],
    ["whose model is not loaded any more", [asked()], lists({ models: [model("m", "loading")] })],
    ["of which it is not known", [asked()], lists({ models: [model("m", "unknown")] })],
    ["whose machine does not tell its catalogue either", [asked()], lists({ catalog: "stale" })],
    ["whose catalogue is of before", [asked()], lists({}, SENT - 1)],
    ["whose worker is gone", [asked({ worker: "b" })], lists()],
  ];
  it.each(cases)("%s", (_, requests, entry, view) => {
    expect(silentAt(LATE, requests, entry, view)).toEqual([]);
  });

  it.each([
    ["its oldest prompt is a long one", 99_900, 100],
    ["a long prompt came behind its oldest, which may be read first", 100, 99_900],
  ])("while %s, however long the others wait", (_, first, second) => {
    const view: FirstByteView = { ...seen, enoughMs: (_kind, bytes) => ENOUGH + 2.5 * bytes };
    const requests = [asked({ bytes: first }), asked({ since: SENT + 10, bytes: second })];
    expect(silentAt(LATE + 100_000, requests, lists(), view)).toEqual([]);
    expect(silentAt(LATE + 250_000, requests, lists(), view)).toEqual(["a:m"]);
  });

  it("whatever is under way, where any byte of it came since its oldest request was sent", () => {
    const request = fc.record({
      key: fc.constantFrom("m", "n"),
      since: fc.nat(40_000),
      lastDataAt: fc.option(fc.nat(60_000)),
      foundWarm: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 12 }), fc.nat(60_000), (sketches, now) => {
        const requests = sketches.map((one) => asked({ ...one, model: one.key }));
        const view = { ...seen, answeredAt: () => null };
        for (const { model: key, sentAt } of silentPairs(requests, [lists({}, 60_000)], view, now)) {
          const ofPair = requests.filter((one) => one.key === key);
          expect(Math.max(...ofPair.map(({ lastDataAt }) => lastDataAt ?? -1))).toBeLessThan(sentAt);
          expect(now - sentAt).toBeGreaterThan(ENOUGH);
        }
      }),
    );
  });
});
