import type { Aggregator } from "prom-client";

/**
 * How the gauges of several processes of one host become one, where that is no sum. What all of them see alike: one that
 * has only begun does not know yet who is up, what is loaded, and whose breaker is open, so the greatest counts; of an
 * age, and of what is missing, the least. `farmgate_together_up`: one that does not hear the others is news.
 */
export const OF_ALL: Readonly<Record<string, Aggregator>> = {
  farmgate_worker_up: "max",
  farmgate_catalog_age_seconds: "min",
  farmgate_model_warm: "max",
  farmgate_model_warm_copies: "max",
  farmgate_keep_warm_wanted: "max",
  farmgate_keep_warm_missing: "min",
  farmgate_placement_replicas: "max",
  farmgate_breaker_open: "max",
  farmgate_gateways: "max",
  farmgate_together_up: "min",
};
