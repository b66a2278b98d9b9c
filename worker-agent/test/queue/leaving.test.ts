import { describe, expect, it } from "vitest";
import { Drive } from "./drive.ts";
import { rulesFor } from "./workload.ts";
import type { Arrival, Workload } from "./workload.ts";

const job = (id: string, at: number, model: string, over: Partial<Arrival> = {}): Arrival => ({
  id,
  at,
  model,
  ...over,
});

function run(work: Partial<Workload> & Pick<Workload, "arrivals">): Drive {
  return new Drive({ rules: rulesFor({ a: 1, b: 1 }), found: "a", loadMs: 1_000, ...work }).run();
}

describe("a caller who leaves", () => {
  it("while queued behind a running answer causes no swap", () => {
    const drive = run({ arrivals: [job("a", 0, "a", { answerMs: 500 }), job("b", 10, "b", { leaveAt: 200 })] });
    expect(drive.swaps).toEqual([]);
    expect(drive.ended.get("b")).toMatchObject({ how: "left", at: 200 });
  });

  it("while the swap for it is under way lets the swap go on, and nobody is granted", () => {
    const drive = run({ arrivals: [job("b", 0, "b", { leaveAt: 500 })] });
    expect(drive.swaps).toEqual(["b"]);
    expect(drive.granted).toEqual([]);
    expect(drive.scheduler.view(2_000).loaded).toEqual(["b"]);
  });

  it("during its swap gives way at once to those who wait for another model", () => {
    const drive = run({ arrivals: [job("b", 0, "b", { leaveAt: 500 }), job("a", 600, "a")] });
    expect(drive.swaps).toEqual(["b", "a"]);
    expect(drive.grantedAt.get("a")).toBe(2_000);
  });

  it("while its answer runs frees the slot when the answer has ended, not before", () => {
    const drive = new Drive({
      rules: rulesFor({ a: 1 }),
      found: "a",
      loadMs: 1,
      arrivals: [job("1", 0, "a"), job("2", 1, "a")],
    });
    drive.run(50);
    drive.send({ type: "leave", id: "1" });
    expect(drive.granted).toEqual(["1"]);
    drive.run();
    expect(drive.grantedAt.get("2")).toBe(100);
  });

  it("takes nobody else's place", () => {
    const arrivals = [job("1", 0, "a"), job("2", 1, "a", { leaveAt: 50 }), job("3", 2, "a")];
    expect(run({ arrivals }).granted).toEqual(["1", "3"]);
  });

  it("is forgotten when unknown, ended, or told of twice", () => {
    const drive = run({ arrivals: [job("1", 0, "a")] });
    for (const id of ["1", "1", "never"]) {
      drive.send({ type: "leave", id });
      drive.send({ type: "done", id });
    }
    expect(drive.scheduler.view(1_000)).toMatchObject({ depth: 0, inflight: 0 });
  });
});

describe("a deadline", () => {
  it("drops a waiting job in time, with nothing else happening", () => {
    const drive = run({ arrivals: [job("a", 0, "a", { answerMs: 9_000 }), job("b", 10, "b", { deadlineAt: 2_000 })] });
    expect(drive.ended.get("b")).toMatchObject({ how: "deadline", at: 2_000 });
    expect(drive.swaps).toEqual([]);
  });

  it("that has passed on arrival is told at once", () => {
    const drive = run({ arrivals: [job("a", 100, "a", { deadlineAt: 100 })] });
    expect(drive.ended.get("a")).toMatchObject({ how: "deadline", at: 100 });
  });

  it("never puts a job before others, and is nothing to a running answer", () => {
    const arrivals = [job("1", 0, "a", { deadlineAt: 50 }), job("2", 1, "a"), job("3", 2, "a", { deadlineAt: 1_000 })];
    const drive = run({ arrivals });
    expect(drive.granted).toEqual(["1", "2", "3"]);
    expect(drive.ended.get("1")?.how).toBe("done");
  });
});
