import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  afterFailure,
  asNotRetried,
  type FailedAttempt,
  failureError,
  isPairFault,
  isRetry,
  readDrop,
  retryReason,
  triedCopy,
  usesAttempt,
} from "../../src/proxy/failure.ts";

type Meaning = Extract<FailedAttempt, { by: "answer" }>["meaning"];
type Connection = Extract<FailedAttempt, { by: "connection" }>;

function answered(meaning: Meaning, status = 500, retryAfterS: number | null = null, reason = ""): FailedAttempt {
  return { worker: "w", by: "answer", status, meaning, retryAfterS, reason };
}

function connection(kind: Connection["kind"], phase: Connection["phase"], reused = false): FailedAttempt {
  return { worker: "w", by: "connection", kind, phase, reused, message: "E" };
}

const RULES = { attempts: 3 };
const step = (history: FailedAttempt[], freshTried = false) => afterFailure(history, freshTried, RULES).step;

describe("a worker's copy of the model", () => {
  it.each([
    ["a worker fault", answered("worker_fault"), true],
    ["a full queue", answered("busy", 503), true],
    ["a failed load", answered("load_failed", 503), true],
    ["no such model", answered("unknown_model", 404), false],
    ["nobody who listens", connection("refused", "connect"), false],
    ["no connection in time", connection("timeout", "connect"), false],
    ["a broken connection", connection("reset", "first_byte"), true],
    ["one that had been kept open", connection("reset", "first_byte", true), true],
    ["a stalled answer", connection("timeout", "body"), true],
  ])("after %s: tried is %s", (_, tried, expected) => {
    expect(triedCopy(tried)).toBe(expected);
  });

  it("is not asked as another variant, and the error says whose", () => {
    const told = failureError(
      "m",
      [answered("worker_fault", 500, null, "out of memory")],
      true,
      "mac has another variant: Q8_0",
    );
    const why = "w: answered 500 (worker fault";
    expect(told.message).toBe(
      `No worker could answer for "m": ${why}: out of memory); not asked: mac has another variant: Q8_0.`,
    );
    expect(told.logged).toBe(`No worker could answer for "m": ${why}); not asked: mac has another variant: Q8_0.`);
  });
});

describe("after a failed try", () => {
  it.each([
    ["a stale connection, first", [connection("reset", "first_byte", true)], false, "fresh"],
    ["a stale connection, again", [connection("reset", "first_byte", true)], true, "next"],
    ["a fresh connection that broke", [connection("reset", "first_byte")], false, "next"],
    ["a refused connection", [connection("refused", "connect")], false, "next"],
    ["no connection in time", [connection("timeout", "connect")], false, "next"],
    ["no first byte in time", [connection("timeout", "first_byte")], false, "final"],
    ["a worker fault", [answered("worker_fault")], false, "next"],
    [
      "the third failed worker",
      [answered("worker_fault"), answered("load_failed"), connection("reset", "first_byte")],
      true,
      "final",
    ],
    [
      "an unknown model after two failures",
      [answered("worker_fault"), answered("worker_fault"), answered("unknown_model", 404)],
      true,
      "next",
    ],
  ] as const)("%s", (_what, history, freshTried, expected) => {
    expect(step([...history], freshTried)).toBe(expected);
  });

  it.each([
    ["refused", "connect", false],
    ["unreachable", "connect", false],
    ["timeout", "connect", true],
    ["reset", "connect", true],
    ["protocol", "first_byte", true],
    ["reset", "first_byte", true],
    ["timeout", "body", true],
  ] as const)("a connection that was %s (%s) uses up an attempt: %s", (kind, phase, uses) => {
    expect(usesAttempt(connection(kind, phase))).toBe(uses);
    expect(step(Array.from({ length: 20 }, () => connection(kind, phase)))).toBe(uses ? "final" : "next");
  });

  it("answers that are no failures never use up the attempts", () => {
    const soft = fc.constantFrom<Meaning>("unknown_model", "busy", "loading");
    fc.assert(
      fc.property(fc.array(soft, { minLength: 1, maxLength: 50 }), (meanings) => {
        const history = meanings.map((meaning) => answered(meaning));
        expect(step(history)).toBe("next");
        expect(history.some(usesAttempt)).toBe(false);
      }),
    );
  });
});

describe("what speaks against a pair, and what is a retry", () => {
  it("is no answer but the worker's own fault, whatever its status", () => {
    const soft = fc.constantFrom<Meaning>("unknown_model", "busy", "loading", "load_failed");
    fc.assert(
      fc.property(soft, fc.integer({ min: 300, max: 599 }), fc.boolean(), (meaning, status, late) => {
        const tried = { ...answered(meaning), status } as FailedAttempt;
        expect(isPairFault(tried, late)).toBe(false);
        expect(isRetry([tried])).toBe(meaning === "load_failed");
      }),
    );
  });

  it.each([
    ["refused", "connect", false, false],
    ["unreachable", "connect", false, false],
    ["timeout", "connect", true, true],
    ["reset", "first_byte", true, true],
    ["gone", "first_byte", false, true],
    ["dropped", "first_byte", false, true],
  ] as const)("of a connection that was %s (%s): %s, %s", (kind, phase, speaks, retry) => {
    const tried = connection(kind, phase);
    expect([isPairFault(tried, false), isRetry([tried]), isRetry([tried, answered("busy")])]).toEqual([
      speaks,
      retry,
      false,
    ]);
    expect(isPairFault(tried, true)).toBe(speaks && kind !== "timeout");
  });

  it("tells a failure that is not retried with its own code, and when to come again", () => {
    const failure = failureError("m", [answered("worker_fault")], false);
    const told = asNotRetried(failure, 4);
    expect([told.code, told.retryAfterS]).toEqual(["worker_failed", 4]);
    expect(told.message).toContain(failure.message);
    expect(told.logged).toContain(failure.logged);
  });
});

describe("the error that tells a caller", () => {
  const error = (history: FailedAttempt[], listedElsewhere = false) => failureError("m", history, listedElsewhere);

  it.each([
    ["all unknown", [answered("unknown_model", 404), answered("unknown_model", 404)], 404, "model_not_found"],
    ["all not supported", [answered("unknown_model", 501), answered("unknown_model", 501)], 501, "not_supported"],
    ["one not supported", [answered("unknown_model", 501), answered("unknown_model", 404)], 404, "model_not_found"],
    ["any busy", [answered("worker_fault"), answered("busy", 429)], 503, "queue_full"],
    ["any loading", [answered("worker_fault"), answered("loading", 503)], 503, "no_worker"],
    ["a failed load last", [answered("unknown_model"), answered("load_failed", 500)], 503, "load_failed"],
    ["a fault, then unknown", [answered("worker_fault"), answered("unknown_model", 404)], 502, "worker_failed"],
    [
      "no connection in time last",
      [answered("worker_fault"), connection("timeout", "connect")],
      504,
      "timeout_connect",
    ],
    [
      "a failed load, then a refused connection",
      [answered("load_failed"), connection("refused", "connect")],
      503,
      "load_failed",
    ],
    ["refused connections alone", [connection("refused", "connect")], 502, "worker_failed"],
    ["no first byte", [answered("busy"), connection("timeout", "first_byte")], 504, "timeout_first_byte"],
    ["a broken connection", [connection("reset", "first_byte")], 502, "worker_failed"],
  ] as const)("%s", (_what, history, status, code) => {
    expect(error([...history])).toMatchObject({ status, code });
  });

  it("says when to come again: the smallest time that a worker told, else one of ours", () => {
    expect(error([answered("busy", 429, 9), answered("loading", 503, 4), answered("busy", 503)]).retryAfterS).toBe(4);
    expect(error([answered("busy", 429)]).retryAfterS).toBe(5);
  });

  it("is the gateway's own where it could open no connection", () => {
    const none = { ...connection("unreachable", "connect"), message: "EMFILE" };
    expect(error([none, none])).toMatchObject({ status: 503, code: "queue_full", retryAfterS: 5 });
    expect(error([none, connection("reset", "first_byte")]).code).toBe("worker_failed");
  });

  it("is no 404 while a worker that has the model is only away", () => {
    expect(error([answered("unknown_model", 404)], true)).toMatchObject({ status: 503, code: "no_worker" });
  });

  it("is no 501 either while a worker that may offer it is only away", () => {
    expect(error([answered("unknown_model", 501)], true)).toMatchObject({ status: 503, code: "no_worker" });
  });

  it("does not say that the model is unknown where it is known but not for this", () => {
    expect(error([answered("unknown_model", 501)]).message).toBe(
      'No worker offers this with the model "m": w: answered 501 (does not offer this).',
    );
  });

  it("names each worker and how far it came", () => {
    const history = [
      { ...connection("refused", "connect"), worker: "gpu-box" },
      { ...connection("reset", "first_byte"), worker: "mac-1" },
      { ...answered("worker_fault", 500), worker: "mac-2" },
    ];
    expect(error(history).message).toBe(
      'No worker could answer for "m": gpu-box: refused while connecting (E), ' +
        "mac-1: reset before the first byte (E), mac-2: answered 500 (worker fault).",
    );
  });
});

describe("the worker's own words", () => {
  const told = (meaning: Meaning) => failureError("m", [answered(meaning, 503, null, "out of memory")], false).message;

  it("are passed on where something failed", () => {
    expect(told("load_failed")).toBe('"m" could not be loaded: w: answered 503 (load failed: out of memory).');
    expect(told("worker_fault")).toContain("w: answered 503 (worker fault: out of memory).");
  });

  it("are left out where the meaning says it all", () => {
    for (const meaning of ["busy", "loading", "unknown_model"] as const) expect(told(meaning)).not.toContain("memory");
  });
});

describe("the reason that is counted", () => {
  it("is the meaning of an answer, or phase and kind of a broken connection", () => {
    expect(retryReason(answered("busy"))).toBe("busy");
    expect(retryReason(connection("refused", "connect"))).toBe("connect_refused");
  });
});

describe("what the log says of failed tries", () => {
  it("is the message without an engine's own words, but with a script's on a load", () => {
    const tried = { worker: "w", by: "answer", status: 500, retryAfterS: null } as const;
    const fault = failureError("m", [{ ...tried, meaning: "worker_fault", reason: "cannot parse 'my secret'" }], false);
    expect(fault.message).toContain("my secret");
    expect(fault.logged).not.toContain("my secret");
    const load = failureError("m", [{ ...tried, meaning: "load_failed", reason: "no space left" }], false);
    expect(load.logged).toContain("no space left");
  });
});

describe("a connection that an engine closes without a byte", () => {
  const drop = connection("reset", "first_byte");

  it("is no fault of its worker where the engine answers bad requests so, and else is one", () => {
    expect(readDrop(drop, true)).toMatchObject({ kind: "dropped" });
    expect(readDrop(drop, false)).toBe(drop);
  });

  it("is a broken connection all the same after a byte, on a used connection, or of another kind", () => {
    for (const other of [
      connection("reset", "first_byte", true),
      { ...connection("reset", "first_byte"), begun: true } as const,
      connection("reset", "body"),
      connection("reset", "connect"),
      connection("refused", "connect"),
      connection("timeout", "first_byte"),
      answered("worker_fault"),
    ]) {
      expect(readDrop(other, true)).toBe(other);
    }
  });

  it("moves on to the next worker as often as other failures, and ends as a 502 that says so", () => {
    const dropped = readDrop(drop, true);
    expect([step([dropped]), step([dropped, dropped, dropped])]).toEqual(["next", "final"]);
    expect(usesAttempt(dropped)).toBe(true);
    const error = failureError("m", [dropped], false);
    expect([error.code, error.message]).toEqual([
      "worker_failed",
      expect.stringContaining("a request of a wrong form"),
    ]);
    expect(retryReason(dropped)).toBe("first_byte_dropped");
  });
});
