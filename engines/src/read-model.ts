import { kindOfName, type ModelState, nameKey } from "@farmgate/shared";
import { z } from "zod";
import type { CatalogModel, CatalogReport } from "./catalog.ts";

/** More models than this on one worker are not read: a hostile answer must not fill the gateway. */
const MAX_MODELS = 10_000;
const MAX_ALIASES = 100;
/** Of a digest or the like, in characters. */
const MAX_TEXT = 200;

/**
 * A model's name as a worker may spell it: it travels in headers, logs and labels, so no control characters and no
 * halves of surrogate pairs.
 */
export const modelName = z
  .string()
  .min(1)
  .max(300)
  .refine((value) => !/[\u0000-\u001f\u007f-\u009f]|\p{Cs}/u.test(value) && nameKey(value) !== "");

/** A figure that may be missing or nonsense. */
export const figure = z.number().finite().nonnegative().nullish().catch(null);

/** Text that may be missing or nonsense. */
export const maybeText = z.string().nullish().catch(null);

/** Text that says nothing is none: llama-server fills what it does not know with empty strings. */
export function textOrNull(text: string | null | undefined): string | null {
  return text === undefined || text === null || text.trim() === "" ? null : text.trim().slice(0, MAX_TEXT);
}

/** The elements of a list that `element` accepts. A missing list (Ollama: `data: null`) is empty; null: no list. */
export function readList<T>(value: unknown, element: z.ZodType<T>): T[] | null {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) return null;
  const read: T[] = [];
  for (const item of value.slice(0, MAX_MODELS)) {
    const parsed = element.safeParse(item);
    if (parsed.success) read.push(parsed.data);
  }
  return read;
}

/** The usable names of a list of aliases, without the model's own id. */
export function readAliases(value: unknown, id: string): string[] {
  if (!Array.isArray(value)) return [];
  const names = (readList(value.slice(0, MAX_ALIASES), modelName) ?? []).filter((name) => name !== id);
  return [...new Set(names)];
}

/** A number of slots as an engine tells it; none, or less than one, says nothing. */
export function slotsOf(told: number | null | undefined): number | null {
  return told === null || told === undefined || told < 1 ? null : Math.floor(told);
}

/** A size in bytes as an engine tells it; zero says nothing. */
export function bytesOf(told: number | null | undefined): number | null {
  return told && told < Number.MAX_SAFE_INTEGER ? Math.round(told) : null;
}

/** Both commands, for engines that take them for every model. */
export const BOTH_COMMANDS = ["load", "unload"] as const;

/** A catalogue model with everything unknown but what is given. */
export function catalogModel(id: string, state: ModelState, known: Partial<CatalogModel> = {}): CatalogModel {
  return {
    id,
    aliases: [],
    state,
    kind: kindOfName(id),
    contextLength: null,
    slots: null,
    queued: null,
    oldestWaitMs: null,
    loadMs: null,
    tokensPerSecond: null,
    apis: null,
    memoryBytes: null,
    quantization: null,
    capabilities: [],
    digest: null,
    commands: [],
    instances: [],
    predictedWaitMs: null,
    serviceMs: null,
    waitBoundMs: null,
    pinned: false,
    ...known,
  };
}

/** A report with everything unknown but what is given. */
export function catalogReport(models: readonly CatalogModel[], known: Partial<CatalogReport> = {}): CatalogReport {
  return { models, refusesUnknown: true, draining: false, slots: null, memory: null, waiting: [], ...known };
}
