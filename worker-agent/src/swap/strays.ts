import { readdir, readFile } from "node:fs/promises";
import { kill } from "node:process";
import type { Clock } from "@farmgate/shared";
import { pause } from "./pause.ts";
import { identityOf } from "./process-identity.ts";

/** Set in the environment of a command, to a word that no other run has. */
export const RUN_VARIABLE = "FARMGATE_RUN";

/** How long the system has to take away what was killed, in milliseconds. */
const KILLED_MS = 10_000;
const LOOK_MS = 100;

/**
 * The living processes of a run, whatever group they have made for themselves: an engine that goes into the background
 * (`setsid`) is in none that its agent knows, but has its environment. Told on Linux only; elsewhere there are none.
 */
export async function strays(run: string): Promise<number[]> {
  const names = await readdir("/proc").catch(() => []);
  const found = names.map(async (name) => {
    if (!/^\d+$/.test(name)) return null;
    const environment = await readFile(`/proc/${name}/environ`, "latin1").catch(() => "");
    if (!environment.split("\0").includes(`${RUN_VARIABLE}=${run}`)) return null;
    return (await identityOf(Number(name))) === null ? null : Number(name);
  });
  return (await Promise.all(found)).filter((pid) => pid !== null);
}

/** Ends them: SIGTERM, and SIGKILL for what is left after the grace. False: some of them could not be ended. */
export async function endStrays(run: string, clock: Clock, graceMs: number): Promise<boolean> {
  for (const [signal, waitMs] of [
    ["SIGTERM", graceMs],
    ["SIGKILL", KILLED_MS],
  ] as const) {
    const deadline = clock.now() + waitMs;
    const told = new Set<number>();
    for (;;) {
      const left = await strays(run);
      if (left.length === 0) return true;
      // One that a stray has started meanwhile is told too.
      for (const pid of left) if (!told.has(pid)) signalTo(pid, signal);
      for (const pid of left) told.add(pid);
      if (clock.now() >= deadline) break;
      await pause(Math.min(LOOK_MS, deadline - clock.now()), clock);
    }
  }
  return false;
}

function signalTo(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    kill(pid, signal);
  } catch {
    // It has ended, or has become another user's: the next look tells.
  }
}
