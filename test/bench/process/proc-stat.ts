// CPU time, memory and limits of processes as Linux tells them under /proc. The
// parsers are pure; a figure covers a process and all that descend from it.
import { readFileSync } from "node:fs";

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
  const children = read(pid, `task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return [pid, ...children.flatMap(processTree)];
}

export function cpuMs(pid: number): number {
  return sum(processTree(pid).map((one) => cpuMsOf(read(one, "stat"))));
}

export function residentKb(pid: number): number {
  return sum(processTree(pid).map((one) => residentKbOf(read(one, "status"))));
}

export function openFilesLimit(pid: number): number {
  return openFilesLimitOf(read(pid, "limits"));
}

function read(pid: number, name: string): string {
  return readFileSync(`/proc/${pid}/${name}`, "utf8");
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
