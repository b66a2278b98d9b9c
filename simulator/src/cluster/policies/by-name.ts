import type { PolicyName } from "../names.ts";
import type { ClusterPolicy } from "../types.ts";
import { createBlitzscale } from "./blitzscale.ts";
import { createPools } from "./pools.ts";
import { createPrism } from "./prism.ts";
import { createPrismGlobal } from "./prism-global.ts";

import { createStatic } from "./static.ts";

export interface PolicyOptions {
  seed: number;
  /** Devices that each application keeps busy on average: for the one policy that is told. */
  demand: readonly number[];
}

const CREATE = {
  static: () => createStatic(null),
  "static-by-demand": ({ demand }) => createStatic(demand),
  "prism-like": () => createPrism(),
  "prism-global": ({ seed }) => createPrismGlobal(seed),

  "blitzscale-like": () => createBlitzscale(),
  "stable-only": ({ seed }) =>
    createPools({ name: "stable-only", seed, rules: { promotion: { by: "never" } }, severalStable: true }),
  "elastic-only": ({ seed }) => createPools({ name: "elastic-only", seed, rules: { promotion: { by: "always" } } }),
  "two-pools-uncoordinated": ({ seed }) =>
    createPools({ name: "two-pools-uncoordinated", seed, rules: { coordination: "split" } }),
  "two-pools": ({ seed }) => createPools({ name: "two-pools", seed }),
} as const satisfies Record<PolicyName, (options: PolicyOptions) => ClusterPolicy>;

/** A policy with nothing behind it, for one run. */
export function createPolicy(name: PolicyName, options: PolicyOptions): ClusterPolicy {
  return CREATE[name](options);
}
