import { expect, test } from "vitest";
import { readableLine } from "../src/readable-line.ts";

const head = { level: "info", time: "2026-01-01T00:00:00.000Z", pid: 1, hostname: "here", name: "gateway" };

test("a request is one line with the fields that say something", () => {
  const entry = {
    ...head,
    id: "req_1",
    caller: "alice",
    model: "coder",
    worker: null,
    status: 404,
    waitedMs: 0,
    reason: 'No worker has "coder".',
    tokens: { prompt: 9 },
    msg: "request",
  };
  expect(readableLine(entry)).toBe(
    'request id=req_1 model=coder status=404 waitedMs=0 reason="No worker has \\"coder\\"." tokens={"prompt":9}',
  );
});

test("what the message says already is not said twice", () => {
  const entry = {
    ...head,
    url: "http://127.0.0.1:8401",
    models: ["a", "b"],
    msg: "listening on http://127.0.0.1:8401",
  };
  expect(readableLine(entry)).toBe("listening on http://127.0.0.1:8401 models=a,b");
  expect(readableLine({ ...head, restartNeeded: [], msg: "applied" })).toBe("applied restartNeeded=none");
});

test("a list of problems and the stack of an error stand below, indented", () => {
  expect(readableLine({ ...head, reason: "a.yaml:1: x\na.yaml:2: y", file: "a.yaml", msg: "refused" })).toBe(
    "refused file=a.yaml\n    a.yaml:1: x\n    a.yaml:2: y",
  );
  expect(
    readableLine({ ...head, err: { type: "Error", message: "boom", stack: "Error: boom\n  at x" }, msg: "failed" }),
  ).toBe("failed\n    Error: boom\n      at x");
});

test("an entry without a message is its fields", () => {
  expect(readableLine({ ...head, left: 2 })).toBe("left=2");
});

test("a text from outside cannot steer the terminal", () => {
  const line = readableLine({ ...head, model: "\u001b[2Jx\u009bm", error: "one\r\n\u001b[31mtwo", msg: "request" });
  expect(line).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect(line).toContain("model=?[2Jx?m");
});
