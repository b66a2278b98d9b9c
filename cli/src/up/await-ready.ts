import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "@farmgate/shared";
import { getJson } from "../get-json.ts";
import type { ProcessPlan } from "./process-plan.ts";
import type { SupervisedProcess } from "./supervised-process.ts";

const POLL_MS = 100;
const ANSWER_MS = 2_000;

/** Resolves with null once the program answers at its address, else with why it is not up after `timeoutMs`. */
export async function awaitReady(member: SupervisedProcess, timeoutMs: number, clock: Clock): Promise<string | null> {
  const until = clock.now() + timeoutMs;
  while (clock.now() < until) {
    if (member.givenUp !== null) return member.givenUp;
    if (await answers(member.plan)) return null;
    await pause(POLL_MS);
  }
  return `no answer from ${member.plan.readyUrl} in ${Math.round(timeoutMs / 1_000)} s`;
}

/** Any answer will do: an agent whose engines are down is up itself. */
async function answers({ readyUrl, shows }: ProcessPlan): Promise<boolean> {
  return getJson(readyUrl, { timeoutMs: ANSWER_MS, shows }).then(
    () => true,
    () => false,
  );
}
