import { z } from "zod";
import { shownText } from "./shown-text.ts";

/** What is told of one worker's copy of a model, where copies differ. */
export const variantSchema = z.object({
  digest: shownText.nullable(),
  quantization: shownText.nullable(),
  context_length: z.number().nullable(),
});

/** `Q4_K_M, context 8192, digest 0123456789ab`: of a digest as much as people compare. */
export function variantWords({ digest, quantization, context_length }: z.output<typeof variantSchema>): string {
  const words = quantization === null ? [] : [quantization];
  if (context_length !== null) words.push(`context ${context_length}`);
  if (digest !== null) words.push(`digest ${digest.replace(/^sha256[:-]/i, "").slice(0, 12)}`);
  return words.join(", ") || "nothing known of it";
}
