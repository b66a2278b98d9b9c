import { kill } from "node:process";
import type { Clock } from "@farmgate/shared";
import { pause } from "./pause.ts";
import { identityOf } from "./process-identity.ts";
import { groupMembers } from "./process-table.ts";

/** How long a script's process group has between SIGTERM and SIGKILL, in milliseconds. */
const GRACE_MS = 2_000;
/** How long the system has to take away what was killed, in milliseconds: a driver can hold a process for a while. */
const KILLED_MS = 10_000;
const LOOK_MS = 50;

/**
 * Ends every process of the group that `leader` leads: SIGTERM, and SIGKILL for what is left after the grace. Resolves
 * true once none is left, false when some are there even 10 s after the SIGKILL.
 */
export async function endGroup(leader: number, clock: Clock, graceMs: number = GRACE_MS): Promise<boolean> {
  for (const [signal, waitMs] of [
    ["SIGTERM", graceMs],
    ["SIGKILL", KILLED_MS],
  ] as const) {
    const deadline = clock.now() + waitMs;
    signalGroup(leader, signal);
    while (await groupStands(leader)) {
      if (clock.now() >= deadline) break;
      await pause(Math.min(LOOK_MS, deadline - clock.now()), clock);
    }
    if (!(await groupStands(leader))) return true;
  }
  return false;
}

/** Whether a living process is in the group. */
async function groupStands(leader: number): Promise<boolean> {
  if (!signalGroup(leader, 0)) return false;
  // The system also counts processes that have ended and are not yet collected.
  return (await identityOf(leader)) !== null || (await groupMembers(leader)).length > 0;
}

/** False when the system knows nobody in the group. */
function signalGroup(leader: number, signal: "SIGTERM" | "SIGKILL" | 0): boolean {
  try {
    kill(-leader, signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
