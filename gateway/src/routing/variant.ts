import type { CatalogModel, EngineName } from "@farmgate/engines";
import { type Copy, contextOf, copyOf, isKnownOther } from "../catalog/copy.ts";

/**
 * What a request is held to once a try at this copy has failed: what was known of earlier ones stays, and what was not
 * is added, so that two tries in a row cannot lead from one variant to another by one of which nothing is known.
 */
export function holdTo(held: Copy | null, tried: Copy): Copy {
  if (held === null) return tried;
  return {
    digest: held.digest ?? tried.digest,
    quantization: held.quantization ?? tried.quantization,
    context: held.context ?? tried.context,
  };
}

/**
 * Whether a worker has another variant than the one that a request is held to: another digest or quantisation, or a
 * smaller context. What is not known makes no difference.
 */
export function isOtherVariant(held: Copy, model: CatalogModel, engine: EngineName | null): boolean {
  if (isKnownOther(held.digest, model.digest) || isKnownOther(held.quantization, model.quantization)) return true;
  const context = contextOf(model, engine);
  return held.context !== null && context !== null && context < held.context;
}

/** In what a variant differs from the one that a request is held to, in a word or two. */
export function differenceWords(held: Copy, model: CatalogModel, engine: EngineName | null): string {
  const { digest, quantization, context } = copyOf(model, engine);
  if (quantization !== null && isKnownOther(held.quantization, quantization)) return quantization;
  if (digest !== null && isKnownOther(held.digest, digest)) return shortDigest(digest);
  return `a context of ${context}`;
}

/** As much of a digest as people compare. */
function shortDigest(digest: string): string {
  return `digest ${digest.replace(/^sha256[:-]/i, "").slice(0, 12)}`;
}
