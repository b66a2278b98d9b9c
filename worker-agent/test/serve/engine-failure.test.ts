import type { ExchangeFailure } from "@farmgate/wire";
import { describe, expect, it } from "vitest";
import { afterFailure } from "../../src/serve/engine-failure.ts";

const failure = (phase: ExchangeFailure["phase"], kind: ExchangeFailure["kind"], reused = false): ExchangeFailure => ({
  phase,
  kind,
  reused,
  message: "",
});
const refused = failure("connect", "refused");
const stale = failure("first_byte", "reset", true);

describe("after an engine that gave no byte", () => {
  it.each<[string, ExchangeFailure, { requeued?: boolean; retriedFresh?: boolean }, string]>([
    ["nothing listens", refused, {}, "wait_again"],
    ["nothing listens, after a connection that had gone stale", refused, { retriedFresh: true }, "wait_again"],
    ["nothing listens again", refused, { requeued: true }, "tell"],
    ["a used connection broke", stale, {}, "fresh"],
    ["a used connection broke, after the model was loaded anew", stale, { requeued: true }, "fresh"],
    ["a used connection broke again", stale, { retriedFresh: true }, "tell"],
    ["a new connection broke", failure("first_byte", "reset"), {}, "tell"],
    ["no connection stood in time", failure("connect", "timeout"), {}, "tell"],
    ["it is no HTTP", failure("first_byte", "protocol"), {}, "tell"],
  ])("because %s", (_why, what, so, step) => {
    expect(afterFailure(what, { requeued: false, retriedFresh: false, ...so })).toBe(step);
  });
});
