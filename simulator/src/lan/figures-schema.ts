import { duration, name, wholeNumber } from "@farmgate/shared";
import { z } from "zod";

/** What is not told of a model of a real engine is taken to be so, and said. */
const ASSUMED = { load: 20_000, promptTokensPerSecond: 1_000, tokensPerSecond: 30, slots: 4 };

const figures = z.strictObject({
  load: duration.default(ASSUMED.load),
  promptTokensPerSecond: wholeNumber(0).default(ASSUMED.promptTokensPerSecond),
  tokensPerSecond: wholeNumber(0).default(ASSUMED.tokensPerSecond),
  slots: wholeNumber(1).default(ASSUMED.slots),
  /** From the start. */
  loaded: z.boolean().default(false),
});

/** What a real model is like. Milliseconds, and tokens per second of one slot (0: at once). */
export type ModelFigures = z.output<typeof figures>;

/**
 * `simulate` of a farm file: by worker and model, what the engines that it does not simulate are like. Nothing but
 * `farmgate simulate` reads it.
 */
export const simulateSchema = z.record(name, z.record(name, figures)).default({});
export type SimulateFigures = z.output<typeof simulateSchema>;

export const ASSUMED_FIGURES: ModelFigures = { ...ASSUMED, loaded: false };
