import { API_NAMES, duration, isApi, listen, name, size, wholeNumber } from "@farmgate/shared";
import { z } from "zod";
import { parseFail } from "./fail.ts";

/** llama-server's own port. */
const DEFAULT_PORT = 8080;

const model = z.preprocess(
  (value) => (typeof value === "string" ? { name: value } : value),
  z.strictObject({
    name,
    aliases: z.array(name).default([]),
    kind: z.enum(["chat", "embedding", "rerank", "audio", "image"]).default("chat"),
    /** Time to load; unset: the engine's. */
    load: duration.optional(),
    /** Loaded at start, at once. */
    loaded: z.boolean().default(false),
    /** Tokens. */
    contextLength: wholeNumber(1).default(131_072),
    /** Told in the catalogue as the model's size. */
    memory: size.default(0),
  }),
);

const failForm = z.string().transform((text, context) => {
  const parsed = parseFail(text);
  if ("form" in parsed) return parsed.form;
  context.addIssue({ code: "custom", message: parsed.problem });
  return z.NEVER;
});

/** One simulated engine: an entry of a farm file's `engines`, and what `farmgate engine` starts with. */
export const engineOptionsSchema = z
  .strictObject({
    name: name.optional(),
    listen: listen(DEFAULT_PORT),
    models: z.array(model).min(1, "must name a model"),
    load: duration.default(2_000),
    /** Models loaded at once (`--models-max`); 0 = no limit. */
    maxLoaded: wholeNumber(0).default(4),
    /** False: a request for a model that is not loaded is refused. */
    autoload: z.boolean().default(true),
    /** One model, loaded at start, as `llama-server -m` has it. */
    single: z.boolean().default(false),
    /** Requests that one model serves at once; the others wait. */
    slots: wholeNumber(1).default(4),
    /** Speed of one slot; 0 = at once. */
    promptTokensPerSecond: wholeNumber(0).default(2_000),
    tokensPerSecond: wholeNumber(0).default(50),
    /** The APIs that it speaks, as an older or smaller engine would: every other path is not found; unset: all. */
    apis: z.array(z.string().refine(isApi, `must be one of ${API_NAMES.join(", ")}`)).optional(),
    apiKey: z.string().min(1).optional(),
    fail: z.array(failForm).default([]),
  })
  .superRefine((options, context) => {
    const seen = new Set<string>();
    for (const [i, entry] of options.models.entries()) {
      for (const label of [entry.name, ...entry.aliases]) {
        if (seen.has(label)) {
          context.addIssue({ code: "custom", path: ["models", i], message: `"${label}" is named twice` });
        }
        seen.add(label);
      }
    }
    if (options.single && options.models.length > 1) {
      context.addIssue({ code: "custom", path: ["models"], message: "a single-model engine has one model" });
    }
    const loaded = options.models.filter((entry) => entry.loaded).length;
    if (options.maxLoaded > 0 && loaded > options.maxLoaded) {
      context.addIssue({ code: "custom", path: ["models"], message: "more models are loaded than maxLoaded allows" });
    }
  })
  .transform((options) => ({
    ...options,
    models: options.models.map((entry) => ({ ...entry, load: entry.load ?? options.load })),
  }));

export type EngineOptions = z.output<typeof engineOptionsSchema>;
export type EngineModel = EngineOptions["models"][number];
