/** A moment as RFC 3339 has it, in UTC. `wallMs` counts from the Unix epoch. */
export function isoTime(wallMs: number): string {
  // It writes a moment down that it is given, and reads no clock.
  // oxlint-disable-next-line no-restricted-globals
  return new Date(wallMs).toISOString();
}
