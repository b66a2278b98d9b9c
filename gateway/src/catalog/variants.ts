import { type Copy, isKnownOther } from "./copy.ts";
import type { Listing } from "./listings.ts";
import type { Variant } from "./types.ts";

/** The copies of a model, one for each listing that counts for the union. */
export function variantsOf(listings: readonly Listing[]): readonly Variant[] {
  const counted = listings.filter(({ own, out }) => own && !out);
  return counted.map(({ worker, digest, quantization, contextLength }) => {
    return { worker, digest, quantization, contextLength };
  });
}

/**
 * Whether copies that are looked at one after the other differ in anything known. Two that differ differ from the first
 * one of which the same is known, so that one pass is enough.
 */
export class Differences {
  any = false;
  #digest: string | null = null;
  #quantization: string | null = null;
  #context: number | null = null;

  look({ digest, quantization, context }: Copy): void {
    if (digest !== this.#digest && digest !== null) {
      if (isKnownOther(this.#digest, digest)) this.any = true;
      this.#digest ??= digest;
    }
    if (quantization !== this.#quantization && quantization !== null) {
      if (isKnownOther(this.#quantization, quantization)) this.any = true;
      this.#quantization ??= quantization;
    }
    if (context !== null && context !== this.#context) {
      if (this.#context !== null) this.any = true;
      this.#context ??= context;
    }
  }
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
