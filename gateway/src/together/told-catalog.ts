import { ENGINE_NAMES, type CatalogModel, type CatalogReport, type PollResult } from "@farmgate/engines";
import { type Api, isApi, modelStateSchema } from "@farmgate/shared";
import { z } from "zod";
import type { CatalogEvent } from "../catalog/types.ts";

/** More than any answer takes or holds: a figure beyond it would spoil every mean that it goes into. */
const MOST = 1e12;

/** Names, reasons and figures as they may come from another machine. */
export const told = {
  name: z.string().min(1).max(300),
  text: z.string().max(10_000),
  /** Milliseconds, or bytes. */
  ms: z.number().nonnegative().max(MOST),
};

const figure = z.number().nonnegative().nullable();
/** What loads are divided by: an engine that tells of less is told as one that says nothing. */
const slots = z.number().min(1).nullable();
const api = z.custom<Api>((value) => typeof value === "string" && isApi(value));

const model = z.object({
  id: told.name,
  aliases: z.array(told.text),
  state: modelStateSchema,
  kind: told.text,
  contextLength: figure,
  slots,
  queued: figure,
  oldestWaitMs: figure,
  loadMs: figure,
  tokensPerSecond: figure,
  apis: z.array(api).nullable(),
  memoryBytes: figure,
  quantization: told.text.nullable(),
  capabilities: z.array(z.enum(["tools", "thinking", "vision", "insert"])),
  digest: told.text.nullable(),
  commands: z.array(z.enum(["load", "unload"])),
  instances: z.array(told.text),
  predictedWaitMs: figure,
  serviceMs: figure,
  waitBoundMs: figure,
  pinned: z.boolean(),
}) satisfies z.ZodType<CatalogModel>;

const report = z.object({
  models: z.array(model).max(10_000),
  refusesUnknown: z.boolean(),
  draining: z.boolean(),
  slots,
  memory: z.object({ budgetBytes: z.number().nonnegative(), usedBytes: z.number().nonnegative() }).nullable(),
  waiting: z.array(
    z.object({
      id: told.text,
      model: told.text,
      position: z.number(),
      waitedMs: z.number(),
      boundMs: figure,
    }),
  ),
}) satisfies z.ZodType<CatalogReport>;

const engine = z.enum(ENGINE_NAMES);
const because = { engine: engine.nullable(), reason: told.text };

export const toldPoll: z.ZodType<PollResult> = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ok"), engine, report }),
  z.object({ kind: z.literal("loading"), engine }),
  z.object({ kind: z.literal("no_catalog"), ...because }),
  z.object({ kind: z.literal("unauthorized"), ...because }),
  z.object({ kind: z.literal("dead"), reason: told.text }),
  z.object({ kind: z.literal("refused"), reason: told.text }),
]);

const pair = { worker: told.name, model: told.name };
const failing = { ...pair, sentAt: z.number(), stalled: z.boolean(), reason: told.text };
const moment = { ...pair, at: z.number() };

/** What is seen of a worker by who asks it. */
export const toldEvent: z.ZodType<Exclude<CatalogEvent, { type: "configured" }>> = z.discriminatedUnion("type", [
  z.object({ type: z.literal("refused"), worker: told.name }),
  z.object({ type: z.literal("answered"), ...moment }),
  z.object({ type: z.literal("disowned"), ...pair, api: api.exactOptional(), reason: told.text }),
  z.object({ type: z.literal("load_failed"), ...pair }),
  z.object({ type: z.literal("faulted"), ...failing, broke: z.boolean() }),
  z.object({ type: z.literal("silent"), ...failing }),
  z.object({ type: z.literal("tried"), ...moment }),
  z.object({ type: z.literal("trial_over"), ...moment }),
  z.object({ type: z.literal("served"), ...pair }),
]);
