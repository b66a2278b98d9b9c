import { listOf, objectOf } from "../json-fields.ts";

interface Wishes {
  logprobs?: boolean | null | undefined;
  top_logprobs?: number | null | undefined;
}

/** The chances of tokens, as chat is asked for them. */
export function logprobFields({ logprobs, top_logprobs: top }: Wishes): object {
  return logprobs === true ? { logprobs, ...(top ? { top_logprobs: top } : {}) } : {};
}

/** A token's chance as Ollama has it, of chat's. */
export function logprobOf(told: unknown): object {
  const top = listOf(objectOf(told)["top_logprobs"]).map(tokenOf);
  return top.length === 0 ? tokenOf(told) : { ...tokenOf(told), top_logprobs: top };
}

function tokenOf(told: unknown): object {
  const { token, logprob, bytes } = objectOf(told);
  return { token, logprob, bytes };
}
