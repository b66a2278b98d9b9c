/** What is known of a model before it is measured; nothing need be. */
export interface ModelFacts {
  /** Bytes on its devices. */
  weightBytes?: number;
  /** That one token passes through; of a mixture of experts the active ones. */
  activeParameters?: number;
  /** Of key-value cache. */
  kvBytesPerToken?: number;
  /** Devices that one replica takes; 1. */
  span?: number;
  /** Requests that one replica decodes at once, near the end of what it can do in time; 16. */
  batch?: number;
}

/** What 1 of `compute` and of `bandwidth` is. As reached in practice, per second. */
export interface ReferenceDevice {
  /** Floating-point operations. */
  compute: number;
  /** Bytes. */
  bandwidth: number;
}

/** A GPU of a few years ago, as it is reached in practice. */
export const USUAL_DEVICE: ReferenceDevice = { compute: 50e12, bandwidth: 500e9 };

/** All of it, by guess where it is not known, and whether it is guessed. */
export interface FullFacts extends Required<ModelFacts> {
  isGuessed: boolean;
}

/**
 * Guesses: a byte a parameter (between a half and two by quantisation); an 8 GB model where nothing is known; a cache
 * that grows with the root of the parameters, 40 kB a token at 1e9, which is near the published models with grouped
 * queries from 1 to 70 billion.
 */
export function fullFacts(facts: ModelFacts): FullFacts {
  const { weightBytes, activeParameters } = facts;
  const weights = usable(weightBytes) ?? usable(activeParameters) ?? 8e9;
  const parameters = usable(activeParameters) ?? weights;
  return {
    weightBytes: weights,
    activeParameters: parameters,
    kvBytesPerToken: usable(facts.kvBytesPerToken) ?? 40_000 * Math.sqrt(parameters / 1e9),
    span: usable(facts.span) ?? 1,
    batch: usable(facts.batch) ?? 16,
    isGuessed: usable(weightBytes) === null,
  };
}

function usable(value: number | undefined): number | null {
  return value !== undefined && value > 0 && Number.isFinite(value) ? value : null;
}
