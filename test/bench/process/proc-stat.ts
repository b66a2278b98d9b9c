// CPU time, memory and limits of processes as Linux tells them under /proc. The
// parsers are pure; a figure covers a process and all that descend from it.
import { readdirSync, readFileSync } from "node:fs";

/** Linux counts CPU time for user space in hundredths of a second on every architecture. */
const MS_PER_TICK = 10;

/** User and system time of one /proc/PID/stat line, in milliseconds. */
export function cpuMsOf(stat: string): number {
  // The name in parentheses may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

/** Resident memory of one /proc/PID/status text, in KiB. */
export function residentKbOf(status: string): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}

/** The soft limit of open files in a /proc/PID/limits text. */
export function openFilesLimitOf(limits: string): number {
  const soft = /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  return soft === "unlimited" ? Infinity : Number(soft ?? 0);
}

function processTree(pid: number): number[] {
  const children = readIfThere(pid, `task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return [pid, ...children.flatMap(processTree)];
}

export function cpuMs(pid: number): number {
  return sum(processTree(pid).map((one) => cpuMsOf(readIfThere(one, "stat")) || 0));
}

export function residentKb(pid: number): number {
  return sum(processTree(pid).map((one) => residentKbOf(readIfThere(one, "status"))));
}

export function openFilesLimit(pid: number): number {
  return openFilesLimitOf(read(pid, "limits"));
}

/** Files and sockets that one process has open, without those that descend from it. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** One that descends from another may end meanwhile. */
function readIfThere(pid: number, name: string): string {
  try {
    return read(pid, name);
  } catch {
    return "";
  }
}

function read(pid: number, name: string): string {
  return readFileSync(`/proc/${pid}/${name}`, "utf8");
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
