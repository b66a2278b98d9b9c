import { isLoopback } from "./config/pieces.ts";

/** Whether a page of this origin is trusted. No `origins`: pages of this machine alone; `*`: any page. */
export function isAllowedOrigin(origin: string, origins: readonly string[]): boolean {
  if (origins.length > 0) return origins.includes("*") || origins.includes(origin);
  return URL.canParse(origin) && /^https?:$/.test(new URL(origin).protocol) && isLoopback(new URL(origin).hostname);
}
