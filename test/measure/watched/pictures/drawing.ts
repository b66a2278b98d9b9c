// What every kind of panel is drawn from, and what comes of it.
import type { Panel } from "../../../observe/queries.ts";
import type { Series, Span } from "../evaluate.ts";

export interface Drawn {
  panel: Panel;
  /** By the target's letter. */
  answers: ReadonlyMap<string, readonly Series[]>;
  span: Span;
}

/** Pixels. */
export interface Size {
  width: number;
  height: number;
}

/** Seconds since 1970 as the clock has them, in UTC. */
export function clock(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(11, 19);
}

/** Values of a series by the second; null where there is none. */
export function valuesBySecond({ values = [] }: Series, { from, to }: Span): { x: number; y: number | null }[] {
  const points = Array.from({ length: Math.floor(to - from) + 1 }, (_, i) => ({
    x: from + i,
    y: null as number | null,
  }));
  for (const [at, text] of values) {
    const point = points[Math.round(at - from)];
    if (point !== undefined && Number.isFinite(Number(text))) point.y = Number(text);
  }
  return points;
}
