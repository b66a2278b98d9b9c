import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { catalogReport } from "@farmgate/engines";
import { onDuty, type OwnPolls, pace, type ToldPoll, worthOf } from "../../src/together/poll-duty.ts";

const members = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 9 });
const workers = Array.from({ length: 400 }, (_, i) => `worker-${i}`);

describe("who polls a worker", () => {
  it("moves only the workers of the member that goes, whatever order the others are told in", () => {
    fc.assert(
      fc.property(members, fc.nat(), (ids, pick) => {
        const gone = ids[pick % ids.length];
        const rest = ids.filter((id) => id !== gone);
        for (const worker of workers.slice(0, 40)) {
          const before = onDuty(worker, ids) ?? "nobody";
          expect(onDuty(worker, ids.toReversed())).toBe(before);
          expect(before === gone ? rest : [before]).toContain(onDuty(worker, rest));
        }
      }),
    );
  });

  it("gives each about as many", () => {
    const ids = ["a1f0", "a1f1", "b2", "c3", "d4", "e5", "f6", "g7"];
    const counts = ids.map((id) => workers.filter((worker) => onDuty(worker, ids) === id).length);
    expect(Math.min(...counts)).toBeGreaterThan(25);
    expect(Math.max(...counts)).toBeLessThan(80);
  });

  it("is everyone where the others cannot be heard, and who has doubts of its own", () => {
    const hub = { id: "a", isShared: true, trouble: null, members: () => ["a", "b"] };
    const [mine = "", other = ""] = ["a", "b"].map((id) => workers.find((worker) => onDuty(worker, ["a", "b"]) === id));
    expect([pace(hub, mine, "reached"), pace(hub, other, "reached"), pace(hub, other, "unknown")]).toEqual([
      1, 1.5, 1.5,
    ]);
    expect([pace(hub, other, "missed"), pace(hub, other, "doubted")]).toEqual([1, 1]);
    expect(pace({ ...hub, trouble: "away" }, other, "reached")).toBe(1);
    expect(pace({ ...hub, isShared: false }, other, "reached")).toBe(1);
  });
});

describe("a poll that another gateway tells of", () => {
  const good: ToldPoll = { startedAt: 9_900, result: { kind: "ok", engine: "agent", report: catalogReport([]) } };
  const bad: ToldPoll = { startedAt: 9_900, result: { kind: "dead", reason: "no answer" } };
  const unknown: ToldPoll = { startedAt: 9_900, result: null };
  const own: OwnPolls = { reach: "reached", startedAt: 5_000, isRunning: false, intervalMs: 5_000 };

  it.each<[string, ToldPoll, Partial<OwnPolls>, ReturnType<typeof worthOf>]>([
    ["is taken when it is good", good, {}, "take"],
    ["is taken when nothing is known here", good, { reach: "unknown", startedAt: null }, "take"],
    ["is no reason to give up a worker: it is looked at", bad, {}, "poll"],
    ["is no proof of the way from here", good, { reach: "missed" }, "poll"],
    ["is no proof where a request had no luck", good, { reach: "doubted" }, "poll"],
    ["is looked at where what it stands for is not known", unknown, {}, "poll"],
    ["is left alone right after a poll of its own", bad, { startedAt: 8_000 }, "leave"],
    ["is left alone while its own poll is under way", good, { isRunning: true }, "leave"],
    ["is left alone when its own is younger", good, { startedAt: 9_950 }, "leave"],
  ])("%s", (_, poll, more, worth) => {
    expect(worthOf(poll, { ...own, ...more }, 10_000)).toBe(worth);
  });
});
