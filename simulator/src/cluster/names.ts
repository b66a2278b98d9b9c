/** The loads that policies are compared on. */
export const SCENARIOS = ["w0", "w0-eighth", "poisson", "azure", "mooncake", "servegen", "five-burst"] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

export const POLICIES = [
  "static",
  "static-by-demand",
  "prism-like",
  "prism-global",
  "blitzscale-like",
  "stable-only",
  "elastic-only",
  "two-pools-uncoordinated",
  "two-pools",
] as const;
export type PolicyName = (typeof POLICIES)[number];
