import { duration, type ReportProblem } from "@farmgate/shared";
import { z } from "zod";

const someTime = duration.refine((ms) => ms > 0, "must be longer than 0");
const MODES = ["off", "advise", "auto"] as const;

const shape = z.strictObject({
  mode: z.enum(MODES).default("off"),
  /** Of requests with no deadline of their own: their first byte is to come within it. */
  target: someTime.default(2_000),
  /** The share of requests that is to be on time. */
  share: z
    .number()
    .refine((share) => share > 0 && share <= 1, "must be above 0, and 1 at most")
    .default(0.95),
  /** Standard deviations by which what is not sure is taken for worse than it looks. */
  caution: z
    .number()
    .refine((deviations) => deviations >= 0, "must not be below 0")
    .default(1),
  /** What was asked within it makes a model hot; a fifth of it tells the rate now, twenty times it what is steady. */
  window: someTime.default(15_000),
  /** How often the elastic pool and the stable pool are planned. */
  elasticEvery: someTime.default(500),
  stableEvery: someTime.default(30_000),
  /** How long a copy stays that is not needed any more, and a model in its pool. */
  hold: someTime.default(30_000),
  /** The share of what a worker can do from which on a model is hot: it then gets workers of its own, as many as it takes. */
  hot: z
    .number()
    .refine((share) => share > 0, "must be above 0")
    .default(0.5),
  /** A directory where what the Oracle learned is kept over a restart; null: nowhere. */
  stateDir: z.string().min(1, "must name a directory").nullable().default(null),
});

/** `placement`: one of its modes, or all of its settings. Durations in milliseconds. */
export const placementSettings = z
  // What else is no set of keys may have been meant as a word: `on`, or another YAML's `off`.
  .preprocess((value) => (isWord(value) ? { mode: value } : value), shape)
  .prefault({});
/** Nothing is packed anew more often than anything is planned. */
export function checkPlacement({ placement }: { placement: PlacementSettings }, report: ReportProblem): void {
  const { elasticEvery, stableEvery } = placement;
  if (stableEvery < elasticEvery) report(["placement", "stableEvery"], "must not be shorter than elasticEvery");
}

export type PlacementSettings = z.output<typeof placementSettings>;

function isWord(value: unknown): boolean {
  return typeof value === "string" || typeof value === "boolean";
}
