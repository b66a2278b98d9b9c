import type { LearningOptions } from "./learned-value.ts";
import type { ModelFacts, ReferenceDevice } from "./model-facts.ts";

export interface OracleOptions {
  learning: LearningOptions;
  /** What is known of a model by this name; asked when it is first met. */
  facts?: (model: string) => ModelFacts;
  /** What 1 of compute and of bandwidth is. */
  device?: ReferenceDevice;
}
