import { Agent } from "node:http";
import type { Random } from "@farmgate/shared";
import type { Asked } from "./answers.ts";
import { answerBody, chanceOf } from "./answers.ts";
import type { Fault } from "./faults/fault.ts";
import { type Patience, send } from "./rig/caller.ts";
import { unrest } from "./rig/front.ts";
import type { Rig } from "./rig/gateway.ts";
import { type CallerFault } from "./callers/caller-faults.ts";
import { misbehave } from "./callers/raw-caller.ts";
import { PACED } from "./faults/pace.ts";
import { judge, type Seen, type Verdict } from "./verdict.ts";

/** What became of the requests of one round. */
export interface Row {
  front: string;
  fault: string;
  phase: string;
  verdicts: Verdict[];
  /** Requests that reached a worker, and how often they did together. */
  reached: number;
  attempts: number;
  /** What did not come to rest behind it; null: all did. */
  unrest: string | null;
}

/** A request that has not ended by then has no end, in milliseconds. */
const CEILING_MS = 15_000;
/** How long a caller of an agent waits for a silent engine, in milliseconds: an agent has no such limit of its own. */
const PATIENCE_MS = 1_000;
/** Callers at a time where an answer comes soon. */
const CALLERS = 6;

let model = 0;

/** Draws the next request: streamed or whole in turns, long and short ones. */
function drawRequest(rig: Rig, n: number, random: Random): Asked {
  const nonce = Array.from({ length: 16 }, () => Math.floor(random() * 16).toString(16)).join("");
  const name = rig.models[model++ % rig.models.length] ?? "";
  return { nonce, model: name, streamed: (n >> 1) % 2 === 0, pieces: 3 + Math.floor(random() * 12) };
}

/** One round: so many requests while the faulty worker has this fault, and whether all comes to rest behind it. */
export async function workerRound(rig: Rig, fault: Fault, requests: number, random: Random): Promise<Row> {
  const agent = new Agent({ keepAlive: true });
  const patience: Patience = { leaveAfterMs: isLeftAlone(rig, fault) ? PATIENCE_MS : null, ceilingMs: CEILING_MS };
  const callers = fault.silent === true ? requests : CALLERS;
  const drawn = drawAll(rig, requests, random);
  await rig.faulty.set(fault);
  const verdicts = await askAll(drawn, callers, async (asked) =>
    verdictOn(asked, await send(rig.front.url, asked, agent, patience), fault, rig),
  );
  agent.destroy();
  await rig.faulty.set(null);
  return rowOf(rig, fault, drawn, verdicts);
}

/** One round of callers that misbehave, before workers that take their time. */
export async function callerRound(rig: Rig, fault: CallerFault, requests: number, random: Random): Promise<Row> {
  const drawn = drawAll(rig, requests, random);
  for (const { asked } of drawn) asked.pieces += 15;
  for (const worker of [rig.faulty, ...rig.good]) await worker.set(PACED);
  const verdicts = await askAll(drawn, requests, async (asked) => {
    const seen = await misbehave(rig.front.url, asked, fault, chanceOf(asked), rig.clock);
    return judge(asked, seen, answerBody(asked), false);
  });
  const row = await rowOf(rig, { ...fault, name: `caller ${fault.name}` }, drawn, verdicts);
  for (const worker of [rig.faulty, ...rig.good]) await worker.set(null);
  return row;
}

/** Requests before workers that do nothing wrong; `unhurt`: all must be answered whole. */
export function goodRound(rig: Rig, name: string, requests: number, random: Random, unhurt = true): Promise<Row> {
  return workerRound(rig, { name, phase: "end", harmless: unhurt, silent: !unhurt }, requests, random);
}

interface Drawn {
  asked: Asked;
  /** Before it is sent, in milliseconds. */
  pause: number;
}

function drawAll(rig: Rig, requests: number, random: Random): Drawn[] {
  return Array.from({ length: requests }, (_, n) => ({ asked: drawRequest(rig, n, random), pause: random() * 4 }));
}

/** Sends them in their order, so many at a time. */
async function askAll(
  drawn: readonly Drawn[],
  callers: number,
  ask: (asked: Asked) => Promise<Verdict>,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const line = drawn.values();
  const caller = async () => {
    for (const { asked, pause } of line) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      verdicts.push(await ask(asked));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return verdicts;
}

async function rowOf(
  rig: Rig,
  { name, phase, harmless }: { name: string; phase: string; harmless?: boolean },
  drawn: readonly Drawn[],
  verdicts: Verdict[],
): Promise<Row> {
  const reached = drawn.map(({ asked }) => attemptsOf(rig, asked.nonce)).filter((count) => count > 0);
  const attempts = reached.reduce((sum, count) => sum + count, 0);
  const hurt = harmless === true && verdicts.some(({ end }) => end !== "whole");
  const rest = await unrest(rig.front);
  return {
    front: rig.front.kind,
    fault: name,
    phase,
    verdicts,
    reached: reached.length,
    attempts,
    unrest: rest ?? (hurt ? "an answer that was good in the end did not come" : null),
  };
}

/** What a worker said by its own false word counts as its answer; a good one may have given the right one. */
function verdictOn(asked: Asked, seen: Seen, fault: Fault, { front }: Rig): Verdict {
  const wanted = answerBody(asked);
  const asSent = fault.asSent?.(wanted);
  if (asSent?.equals(seen.body) === true && seen.complete) return { end: "whole" };
  return judge(asked, seen, wanted, front.kind === "agent");
}

function isLeftAlone({ front }: Rig, fault: Fault): boolean {
  return front.kind === "agent" && (fault.silent === true || fault.worker !== undefined);
}

function attemptsOf({ faulty, good }: Rig, nonce: string): number {
  return [faulty, ...good].reduce((sum, { asked }) => sum + (asked.get(nonce) ?? 0), 0);
}
