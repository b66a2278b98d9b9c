import type { Spans } from "./model-figures.ts";
import type { PlacementSettings } from "./settings.ts";

/** What is observed over which time, by the one setting for it. */
export function spansOf({ window }: Pick<PlacementSettings, "window">): Spans {
  return { rateMs: window / 5, heatMs: window, stableMs: window * 20 };
}
