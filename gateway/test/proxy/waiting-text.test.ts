import { describe, expect, it } from "vitest";
import { type Wait, waitingText } from "../../src/proxy/waiting-text.ts";

const asked: Wait = {
  stage: "asked",
  model: "coder",
  worker: "gpu-box",
  loading: false,
  warm: false,
  waitedMs: 20_400,
  askedMs: 18_300,
  loadMs: null,
  position: null,
};

describe("what is waited for, in words", () => {
  const cases: [string, Partial<Wait>][] = [
    ["looking for the workers, 20 s so far", { stage: "looking", worker: null, askedMs: null }],
    ["every worker for coder is busy, waiting for a place, 20 s so far", { stage: "queued", worker: null }],
    ["gpu-box was asked for coder, 20 s so far", {}],
    ["gpu-box has coder loaded and works on the answer, 20 s so far", { warm: true }],
    ["gpu-box is loading coder, 18 s so far", { loading: true }],
    ["gpu-box is loading coder, 18 s so far of about 45 s", { loading: true, loadMs: 45_210 }],
    ["gpu-box is loading coder, 18 s so far, place 2 in its queue", { loading: true, position: 2 }],
    ["waiting for coder on gpu-box, place 3 in its queue, 20 s so far", { warm: true, position: 3 }],
    ["gpu-box has begun its answer with coder, 20 s so far", { stage: "begun", warm: true }],
    ["gpu-box was asked for coder, 3 min 20 s so far", { waitedMs: 200_000 }],
    ["gpu-box was asked for coder, 0 s so far", { waitedMs: 120 }],
  ];
  it.each(cases)("says: %s", (words, known) => {
    expect(waitingText({ ...asked, ...known })).toBe(`farmgate: ${words}`);
  });

  it("ends no line, whatever a worker calls its model", () => {
    const text = waitingText({ ...asked, model: "a\n\ndata: {}\r\u0000", worker: "w\u0085" });
    expect(text).toBe("farmgate: w? was asked for a??data: {}??, 20 s so far");
  });
});
