import { Agent } from "node:http";
import type { Random } from "@farmgate/shared";
import type { Asked } from "./answers.ts";
import { answerBody } from "./answers.ts";
import type { Fault } from "./faults/fault.ts";
import { type Patience, send } from "./rig/caller.ts";
import { unrest } from "./rig/front.ts";
import type { Rig } from "./rig/gateway.ts";
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
export function drawRequest(rig: Rig, n: number, random: Random): Asked {
  const nonce = Array.from({ length: 16 }, () => Math.floor(random() * 16).toString(16)).join("");
  const name = rig.models[model++ % rig.models.length] ?? "";
  return { nonce, model: name, streamed: (n >> 1) % 2 === 0, pieces: 3 + Math.floor(random() * 12) };
}

/** One round: so many requests while the faulty worker has this fault, and whether all comes to rest behind it. */
export async function runRound(rig: Rig, fault: Fault, requests: number, random: Random): Promise<Row> {
  const drawn = Array.from({ length: requests }, (_, n) => ({ asked: drawRequest(rig, n, random), pause: random() * 4 }));
  await rig.faulty.set(fault);
  const agent = new Agent({ keepAlive: true });
  const patience: Patience = { leaveAfterMs: isLeftAlone(rig, fault) ? PATIENCE_MS : null, ceilingMs: CEILING_MS };
  const verdicts: Verdict[] = [];
  const line = drawn.values();
  const caller = async () => {
    for (const { asked, pause } of line) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      const seen = await send(rig.front.url, asked, agent, patience);
      verdicts.push(verdictOn(asked, seen, fault, rig));
    }
  };
  await Promise.all(Array.from({ length: fault.silent === true ? requests : CALLERS }, caller));
  agent.destroy();
  await rig.faulty.set(null);
  const rest = await unrest(rig.front);
  const counts = drawn.map(({ asked }) => attemptsOf(rig, asked.nonce));
  const reached = counts.filter((count) => count > 0);
  return {
    front: rig.front.kind,
    fault: fault.name,
    phase: fault.phase,
    verdicts,
    reached: reached.length,
    attempts: reached.reduce((sum, count) => sum + count, 0),
    unrest: rest,
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
