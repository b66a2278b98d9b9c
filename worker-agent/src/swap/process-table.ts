import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";

/** The ids of a group's living processes; one that has ended and is only not yet collected does not count. */
export async function groupMembers(leader: number): Promise<number[]> {
  const rows = (await rowsFromProc()) ?? (await rowsFromPs());
  return rows.filter(({ group, state }) => group === leader && !/^[ZX]/.test(state)).map(({ pid }) => pid);
}

interface Row {
  pid: number;
  group: number;
  state: string;
}

/** Linux: fields 3 and 5 of `/proc/PID/stat` (proc(5)). null: there is no such folder. */
async function rowsFromProc(): Promise<Row[] | null> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name));
  if (pids.length === 0) return null;
  const rows = pids.map(async (pid) => {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    // The name before it is in brackets and may hold anything, brackets too.
    const [state = "X", , group = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { pid: Number(pid), group: Number(group), state };
  });
  return Promise.all(rows);
}

function rowsFromPs(): Promise<Row[]> {
  return new Promise((resolve) => {
    execFile("ps", ["-A", "-o", "pid=,pgid=,stat="], (error, stdout) => {
      const lines = error === null ? stdout.split("\n") : [];
      const rows = lines.flatMap((line) => {
        const [pid, group, state] = line.trim().split(/\s+/);
        return state === undefined ? [] : [{ pid: Number(pid), group: Number(group), state }];
      });
      resolve(rows);
    });
  });
}
