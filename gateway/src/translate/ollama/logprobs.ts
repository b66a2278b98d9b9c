import { listOf, objectOf } from "../json-fields.ts";

/** A token's chance as Ollama has it, of chat's. */
export function logprobOf(told: unknown): object {
  const top = listOf(objectOf(told)["top_logprobs"]).map(tokenOf);
  return top.length === 0 ? tokenOf(told) : { ...tokenOf(told), top_logprobs: top };
}

function tokenOf(told: unknown): object {
  const { token, logprob, bytes } = objectOf(told);
  return { token, logprob, bytes };
}
