import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seededRandom } from "@farmgate/shared";
import { createSystemClock } from "@farmgate/wire";
import { answerBody, type Asked } from "../faults/answers.ts";
import { callerFaults } from "../faults/callers/caller-faults.ts";
import { clockFaults } from "../faults/clocks/clock-jumps.ts";
import { workerFaults } from "../faults/faults/all.ts";
import { broken } from "../faults/report/table.ts";
import { type Rig, startGatewayRig } from "../faults/rig/gateway.ts";
import { callerRound, goodRound, workerRound } from "../faults/round.ts";
import { judge } from "../faults/verdict.ts";
import { Cleanup } from "../harness/farmgate-process.ts";

const cleanup = new Cleanup();
const random = seededRandom(1);
let rig: Rig;
beforeAll(async () => {
  // Its log, too, cannot be written all the while.
  rig = await startGatewayRig(cleanup, createSystemClock(), "exec > /dev/full");
});
afterAll(() => cleanup.run());

describe("requests before workers that misbehave end once, with their own answer or an error", () => {
  const names = ["reset in a chunk", "fin after the head", "garbage", "length too short"];
  it.each(workerFaults.filter(({ name }) => names.includes(name)))("$name", async (fault) => {
    const row = await workerRound(rig, fault, 8, random);
    expect(broken([row])).toEqual([]);
    expect(row.verdicts).toHaveLength(8);
  });

  it.each(callerFaults.filter(({ name }) => name === "resets in the answer"))("caller $name", async (fault) => {
    expect(broken([await callerRound(rig, fault, 8, random)])).toEqual([]);
  });

  it("and whole again behind them", async () => {
    expect(broken([await goodRound(rig, "none", 12, random)])).toEqual([]);
  });
});

it("sets nothing aside for ever when the clock jumps", () => {
  expect(clockFaults(1).broken).toEqual([]);
});

describe("the verdict on an answer", () => {
  const asked: Asked = { nonce: "0123456789abcdef", model: "m", streamed: true, pieces: 4 };
  const whole = answerBody(asked);
  const seen = (body: Buffer, complete = true) => ({ status: 200, body, complete, left: false, hung: false });
  const error = Buffer.from('data: {"error":{"message":"broke","code":"worker_failed"}}\n\n');
  it.each([
    ["all of it", seen(whole), "whole"],
    ["a part and an error", seen(Buffer.concat([whole.subarray(0, 300), Buffer.from("\n\n"), error])), "told"],
    ["a byte less in its middle", seen(Buffer.concat([whole.subarray(0, 200), whole.subarray(201)])), "wrong"],
    ["another one's", seen(answerBody({ ...asked, nonce: "fedcba9876543210" })), "wrong"],
    ["a part as if it were all", seen(whole.subarray(0, 300)), "lost"],
    ["a part, cut off", seen(whole.subarray(0, 300), false), "lost"],
    ["nothing for ever", { ...seen(whole), hung: true }, "lost"],
    ["a bare 502", { ...seen(Buffer.from("Bad Gateway")), status: 502 }, "lost"],
  ])("that brings %s", (_name, had, end) => {
    expect(judge(asked, had, whole, false).end).toBe(end);
  });
});
