import { expect, it } from "vitest";
import { type ExchangePhase, failureOf } from "../src/index.ts";

const coded = (code: string) => Object.assign(new Error(code), { code });

it.each<[string, ExchangePhase, object]>([
  ["ETIMEDOUT", "connect", { phase: "connect", kind: "timeout", reused: false }],
  // The system gave a connection up that stood: its other end is gone, which is none of our time-outs.
  ["ETIMEDOUT", "first_byte", { phase: "first_byte", kind: "reset", reused: false }],
  ["ETIMEDOUT", "body", { phase: "body", kind: "reset" }],
  ["UND_ERR_CONNECT_TIMEOUT", "connect", { phase: "connect", kind: "timeout" }],
  ["EMFILE", "connect", { phase: "connect", kind: "unreachable", message: "EMFILE" }],
])("%s while in %s is %o", (code, phase, expected) => {
  expect(failureOf(coded(code), phase)).toMatchObject(expected);
});
