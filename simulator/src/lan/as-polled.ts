import type { CatalogReport, EngineName, PollResult } from "@farmgate/engines";

/** What a gateway would have learned by a poll. `report` null: what the worker lists is not readable. */
export function asPolled(engine: EngineName, report: CatalogReport | null): PollResult {
  if (report === null) return { kind: "no_catalog", engine, reason: "its list is not readable" };
  return { kind: "ok", engine, report };
}
