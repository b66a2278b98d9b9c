import type { AgentConfig } from "./config.ts";

/**
 * How long an agent may take to stop, in milliseconds, but for the small change: its running answers, the end of the
 * load that is under way, and then of all commands at once. Ended earlier it would leave its commands behind.
 */
export function longestStopMs({ drain, models }: Pick<AgentConfig, "drain" | "models">): number {
  const graces = models.flatMap(({ command, stopGrace }) => (command === undefined ? [] : [stopGrace]));
  return drain + 2 * Math.max(0, ...graces);
}
