import { adapterFor, type CatalogModel, type EngineName } from "@farmgate/engines";

/** What tells one worker's copy of a model from another's; null: not known. */
export interface Copy {
  digest: string | null;
  quantization: string | null;
  /** The context that a request gets, in tokens. */
  context: number | null;
}

/** The worker's copy, as its catalogue tells it. */
export function copyOf(model: CatalogModel, engine: EngineName | null): Copy {
  const { digest, quantization } = model;
  return { digest, quantization, context: contextOf(model, engine) };
}

/** Some engines tell of a model that is not loaded how much it could take, not what a request would get. */
export function contextOf({ contextLength, state }: CatalogModel, engine: EngineName | null): number | null {
  const mayBeLess = engine !== null && adapterFor(engine).tellsLargestContext && state !== "warm";
  return mayBeLess ? null : contextLength;
}

/** Whether two copies are known to be different; what is not known makes no difference. */
export function isKnownOther(a: string | null, b: string | null): boolean {
  return a !== b && a !== null && b !== null && bare(a) !== bare(b);
}

/** One engine writes `sha256:` before a digest, another does not. */
function bare(text: string): string {
  return text.toLowerCase().replace(/^sha256[:-]/, "");
}
