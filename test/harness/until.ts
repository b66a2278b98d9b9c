/** Looks again every few milliseconds until `holds` does; fails with `what` after `ceilingMs`. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  ceilingMs: number = 60_000,
): Promise<void> {
  const end = performance.now() + ceilingMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${ceilingMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
