import { kill } from "node:process";
import type { Clock } from "@farmgate/shared";
import { pause } from "./pause.ts";

/** How long a process group has between SIGTERM and SIGKILL, in milliseconds. */
const GRACE_MS = 2_000;
const LOOK_MS = 50;

/** Ends every process of the group that `leader` leads: SIGTERM, and SIGKILL for what is left after the grace. */
export async function endGroup(leader: number, clock: Clock): Promise<void> {
  const deadline = clock.now() + GRACE_MS;
  let alive = signalGroup(leader, "SIGTERM");
  while (alive && clock.now() < deadline) {
    await pause(LOOK_MS, clock);
    alive = signalGroup(leader, 0);
  }
  if (alive) signalGroup(leader, "SIGKILL");
}

/** False when nobody is left in the group. */
function signalGroup(leader: number, signal: "SIGTERM" | "SIGKILL" | 0): boolean {
  try {
    kill(-leader, signal);
    return true;
  } catch {
    return false;
  }
}
