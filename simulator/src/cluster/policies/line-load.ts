import type { ModelLoad } from "@farmgate/gateway/policies";
import type { Role } from "../types.ts";

/** The part of an application's load that instances of a role carry: one that only reads prompts writes one token. */
export function lineLoad(load: ModelLoad, role: Role): ModelLoad {
  if (role === "prefill") return { ...load, outputMean: 0, outputVariance: 0 };
  return role === "decode" ? { ...load, inputMean: 0, inputVariance: 0 } : load;
}
