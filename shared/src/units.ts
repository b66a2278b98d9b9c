const DURATION_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const SIZE_BYTES = { b: 1, kb: 1_024, mb: 1_024 ** 2, gb: 1_024 ** 3, tb: 1_024 ** 4 } as const;

/** `500ms`, `5s`, `1.5m`, `2h` or `0` to milliseconds; null when the text is no duration, or none to count with. */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text.trim());
  if (match === null) return text.trim() === "0" ? 0 : null;
  const ms = Number(match[1]) * DURATION_MS[match[2] as keyof typeof DURATION_MS];
  return ms <= Number.MAX_SAFE_INTEGER ? ms : null;
}

/** `512kb`, `100mb`, `24gb` (powers of 1024, any case) or `0` to bytes; null when the text is no size, or none to count with. */
export function parseSize(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(b|kb|mb|gb|tb)$/.exec(text.trim().toLowerCase());
  if (match === null) return text.trim() === "0" ? 0 : null;
  const bytes = Math.round(Number(match[1]) * SIZE_BYTES[match[2] as keyof typeof SIZE_BYTES]);
  return bytes <= Number.MAX_SAFE_INTEGER ? bytes : null;
}

/** Milliseconds as a person reads them: `850 ms`, `12.4 s`, `3 min 5 s`, `2 h 4 min`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, "")} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return withRest(Math.floor(seconds / 60), "min", seconds % 60, "s");
  const minutes = Math.round(seconds / 60);
  return withRest(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

/** Bytes as a person reads them: `512 B`, `1.5 KB`, `24 GB` (powers of 1024). */
export function formatSize(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  // What would be told as 1024 KB is 1 MB.
  while (value >= (unit === 0 ? 1_024 : 1_023.95) && unit < units.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${value.toFixed(unit === 0 ? 0 : 1).replace(/\.0$/, "")} ${units[unit]}`;
}

function withRest(whole: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${restUnit}`;
}
