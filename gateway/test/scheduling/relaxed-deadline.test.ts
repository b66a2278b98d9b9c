import { describe, expect, it } from "vitest";
import { type Deadline, deadlineAt, missError, onMiss } from "../../src/scheduling/relaxed-deadline.ts";

const deadline = (more: Partial<Deadline> = {}): Deadline => ({
  arrivedAt: 10_000,
  askedMs: 1_000,
  mayRelax: true,
  relaxed: 0,
  ...more,
});

describe("a deadline that nobody can meet", () => {
  it("is made three times as long where that is enough", () => {
    const missed = onMiss(deadline(), 12_500, 100);
    expect(missed).toEqual({ kind: "relaxed", deadline: deadline({ relaxed: 1 }) });
    expect(deadlineAt(deadline({ relaxed: 1 }))).toBe(13_000);
  });

  it("is made nine times as long at once where three times is not enough", () => {
    expect(onMiss(deadline(), 19_000, 100)).toMatchObject({ deadline: { relaxed: 2 } });
  });

  it("is relaxed no more than twice, and not for nothing", () => {
    expect(onMiss(deadline({ relaxed: 2 }), 19_001, 100).kind).toBe("refused");
    expect(onMiss(deadline(), 19_001, 100).kind).toBe("refused");
  });

  it("is not relaxed where the caller does not want that", () => {
    expect(onMiss(deadline({ mayRelax: false }), 11_001, 100)).toEqual({
      kind: "refused",
      figures: { askedMs: 1_000, predictedMs: 1_001, lateMs: 1, againInMs: 1 },
    });
  });
});

describe("the refusal", () => {
  it("tells what was predicted, what was asked for, how far that is off, and when to come again", () => {
    const error = missError({ askedMs: 1_000, predictedMs: 3_500, lateMs: 2_500, againInMs: 2_500 });
    expect(error).toMatchObject({ code: "deadline", status: 503, retry: true, retryAfterS: 3 });
    expect(error.message).toContain("predicted after 3.5 s, 1 s were asked for, so that it would be 2.5 s late");
  });

  it("says that coming again is of no use where an idle farm would be too slow", () => {
    const missed = onMiss(deadline({ mayRelax: false }), 13_500, 3_500);
    if (missed.kind !== "refused") throw new Error("it was relaxed");
    const error = missError(missed.figures);
    expect(error).toMatchObject({ retry: false, retryAfterS: null });
    expect(error.message).toContain("a longer deadline");
  });

  it("has no figure where nothing serves", () => {
    const missed = onMiss(deadline(), Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    if (missed.kind !== "refused") throw new Error("it was relaxed");
    expect(missError(missed.figures).message).toContain("nothing can serve it now");
  });
});
