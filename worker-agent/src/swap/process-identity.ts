import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";

/** Which process it is: ids are given anew, a start is not. */
export interface ProcessIdentity {
  pid: number;
  /** When it was started, in the system's own words. */
  start: string;
}

/** Who has this id now. null: nobody, one that has ended and is only not yet collected, or it cannot be told here. */
export async function identityOf(pid: number): Promise<ProcessIdentity | null> {
  const start = (await startFromProc(pid)) ?? (await startFromPs(pid));
  return start === null ? null : { pid, start };
}

export async function isAlive({ pid, start }: ProcessIdentity): Promise<boolean> {
  return (await identityOf(pid))?.start === start;
}

/** Linux: field 22 of `/proc/PID/stat`, in ticks since the system's start (proc(5)), and which start that was. */
async function startFromProc(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (stat === null) return null;
  // The name before it is in brackets and may hold anything, brackets too.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields[18];
  if (state === "Z" || ticks === undefined) return null;
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  return `${boot.trim()} ${ticks}`;
}

/** Other systems: `ps`, which tells the time of the start. */
function startFromPs(pid: number): Promise<string | null> {
  return new Promise((resolve) => {
    execFile("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { env: { LC_ALL: "C" } }, (error, stdout) => {
      const [, state = "Z", start = ""] = /^\s*(\S+)\s+(.*\S)\s*$/.exec(stdout) ?? [];
      resolve(error !== null || state.startsWith("Z") ? null : start);
    });
  });
}
