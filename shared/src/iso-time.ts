const DAY_MS = 86_400_000;

/**
 * A moment as `2026-11-30T00:00:00.000Z`, in UTC. `wallMs`: milliseconds since the Unix epoch, up to the year 9999.
 * The date of a day is counted as Howard Hinnant's "chrono-compatible low-level date algorithms" do, in years that
 * begin in March, so that a leap day is the last of its year.
 */
export function isoTime(wallMs: number): string {
  const ms = Math.floor(wallMs);
  const days = Math.floor(ms / DAY_MS);
  const time = ms - days * DAY_MS;
  const [year, month, day] = dateOf(days);
  const clock = [Math.floor(time / 3_600_000), Math.floor(time / 60_000) % 60, Math.floor(time / 1_000) % 60];
  const seconds = `${clock.map((part) => pad(part, 2)).join(":")}.${pad(time % 1_000, 3)}`;
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${seconds}Z`;
}

function dateOf(days: number): [year: number, month: number, day: number] {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leaps = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return [year, month, dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1];
}

function pad(value: number, length: number): string {
  return String(value).padStart(length, "0");
}
