import { describe, expect, it } from "vitest";
import { commentDueAt, nextLookMs } from "../../src/proxy/comment-due.ts";

const silence = { waitsForEvents: true, arrivedAt: 1_000, lastSentAt: null };

describe("when the next comment is due", () => {
  it("counts from the arrival while nothing was sent", () => {
    expect(commentDueAt(silence, 10_000)).toBe(11_000);
  });

  it("counts from what was sent last", () => {
    expect(commentDueAt({ ...silence, lastSentAt: 15_500 }, 10_000)).toBe(25_500);
  });

  it("is never where comments are turned off, or where no events are waited for", () => {
    expect(commentDueAt(silence, 0)).toBeNull();
    expect(commentDueAt({ ...silence, waitsForEvents: false }, 10_000)).toBeNull();
  });
});

describe("the next look at the requests that wait", () => {
  it("comes so soon that a comment is late by a tenth of its time, and by a second at most", () => {
    expect(nextLookMs(50)).toBe(5);
    expect(nextLookMs(10_000)).toBe(1_000);
    expect(nextLookMs(60_000)).toBe(1_000);
  });
});
