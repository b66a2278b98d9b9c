import type { AgentWorker, HostedModel } from "./farm.ts";

/** Between two looks at the list of an attached engine, in milliseconds: they double up to the longest. */
const LOOKS = { first: 250, longest: 1_000 };

/**
 * How long a load takes by the agent's clock: it looks now and then whether the model is ready. The swap script itself
 * is taken to need no time, since what it needs is part of the load that its owner tells.
 */
export function noticedLoadMs({ served, speed }: HostedModel, { agent }: AgentWorker): number {
  const { loadMs } = speed;
  if (served.heldBy.kind !== "engine") return Math.ceil(loadMs / agent.swap.poll) * agent.swap.poll;
  let at = 0;
  for (let pause = LOOKS.first; at < loadMs; pause = Math.min(2 * pause, LOOKS.longest)) at += pause;
  return at;
}
