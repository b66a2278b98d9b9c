/** Looks again and again until `holds` does; fails after `ceilingMs`. */
export async function until(holds: () => boolean | Promise<boolean>, ceilingMs = 10_000): Promise<void> {
  const deadline = performance.now() + ceilingMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not true within ${ceilingMs} ms: ${String(holds)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The only element of a list. */
export function only<T>(list: readonly T[]): T {
  const [first] = list;
  if (first === undefined || list.length !== 1) throw new Error(`expected one element, found ${list.length}`);
  return first;
}

/** True while a process with this id runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
