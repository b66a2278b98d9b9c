import { isKnownOther } from "./copy.ts";
import type { Listing } from "./listings.ts";
import type { Variant } from "./types.ts";

/** The copies of a model, one for each listing that counts, where they differ in anything known; else null. */
export function variantsOf(listings: readonly Listing[]): readonly Variant[] | null {
  if (!differ(listings)) return null;
  return listings.filter(counts).map(({ worker, digest, quantization, contextLength }) => {
    return { worker, digest, quantization, contextLength };
  });
}

/** A worker's listing of a model under its own name, while the worker is in use. */
export function counts({ own, out }: Listing): boolean {
  return own && !out;
}

/** Whether two lists of variants say the same. */
export function sameVariants(a: readonly Variant[] | null, b: readonly Variant[] | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.length === b.length &&
    a.every((one, at) => {
      const other = b[at];
      return (
        other !== undefined &&
        one.worker === other.worker &&
        one.digest === other.digest &&
        one.quantization === other.quantization &&
        one.contextLength === other.contextLength
      );
    })
  );
}

/** Two that differ differ from the first one of which the same is known, so that one pass is enough. */
function differ(listings: readonly Listing[]): boolean {
  let digest: string | null = null;
  let quantization: string | null = null;
  let context: number | null = null;
  for (const listing of listings) {
    if (!counts(listing)) continue;
    if (isKnownOther(digest, listing.digest) || isKnownOther(quantization, listing.quantization)) return true;
    if (context !== null && listing.context !== null && context !== listing.context) return true;
    digest ??= listing.digest;
    quantization ??= listing.quantization;
    context ??= listing.context;
  }
  return false;
}
