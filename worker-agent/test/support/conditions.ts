/** Generous: a slow machine is no error. */
const CEILING_MS = 60_000;

/** Looks again and again until `holds` does. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + CEILING_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not true within ${CEILING_MS} ms: ${String(holds)}`);
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
