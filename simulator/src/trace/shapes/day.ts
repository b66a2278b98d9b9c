/** Of the day's level. Nights are quieter, but callers in other time zones and batch work go on. Not published. */
const NIGHT_LEVEL = 0.4;
/** Hours at which the day is half begun and half over, and how long each takes. */
const MORNING = 8;
const EVENING = 22;
const TURN_HOURS = 2;
/**
 * The busiest hour, how much it is above the day's level, and its half width in hours: with them the day's requests go
 * at 400 to 500 a second, and those of the busiest hour near 560, to which bursts come.
 */
const PEAK = 15;
const PEAK_RISE = 0.3;
const PEAK_HOURS = 2;

/** How much is asked for at an hour of the day, 0 to 24, as a multiple of the day's level. */
export function dayLevel(hour: number): number {
  const isDay = turned(hour - MORNING) * (1 - turned(hour - EVENING));
  const peak = PEAK_RISE * Math.exp(-(((hour - PEAK) / PEAK_HOURS) ** 2));
  return NIGHT_LEVEL + (1 - NIGHT_LEVEL) * isDay + peak;
}

/** From 0 to 1 around 0, within `TURN_HOURS`. */
function turned(hours: number): number {
  const x = Math.min(1, Math.max(0, hours / TURN_HOURS + 0.5));
  return x * x * (3 - 2 * x);
}

/** Night and day of a trace that is one day, however long it lasts, in milliseconds. */
export function dayParts(durationMs: number): { name: string; from: number; to: number }[] {
  const at = (hour: number) => (durationMs * hour) / 24;
  return [
    { name: "night", from: 0, to: at(MORNING) },
    { name: "day", from: at(MORNING), to: at(EVENING) },
    { name: "night", from: at(EVENING), to: durationMs },
  ];
}
