import { z } from "zod";
import { type Adapter, PLAIN } from "./adapter.ts";
import { type MeaningRule, meaningOf } from "./meaning.ts";
import { BOTH_COMMANDS, catalogModel, catalogReport, figure, modelName, readList } from "./read-model.ts";

const list = z.object({ data: z.unknown().optional() });
const card = z.object({ id: modelName, max_model_len: figure });
const sleep = z.object({ is_sleeping: z.boolean() });

const RULES: readonly MeaningRule[] = [{ type: "NotFoundError", meaning: "unknown_model" }];

/**
 * vLLM: what it lists is loaded, unless it sleeps (while loading nothing listens). Whether it sleeps it tells only in
 * its development mode, and then it can be sent to sleep (its weights go to the memory of the machine) and woken. That
 * takes all that it serves, names and adapters alike, so it is offered only where it lists one.
 */
export const vllm: Adapter = {
  ...PLAIN,
  engine: "vllm",
  catalogPath: "/v1/models",
  extraPath: "/is_sleeping",
  parse(main, extra) {
    const parsed = list.safeParse(main);
    if (!parsed.success || parsed.data.data === undefined) return null;
    const models = readList(parsed.data.data, card);
    if (models === null) return null;
    const told = sleep.safeParse(extra).data;
    const state = told?.is_sleeping === true ? "cold" : "warm";
    const commands = told !== undefined && models.length === 1 ? BOTH_COMMANDS : [];
    return catalogReport(
      models.map((model) => catalogModel(model.id, state, { contextLength: model.max_model_len ?? null, commands })),
    );
  },
  load: ({ commands }) => (commands.includes("load") ? { path: "/wake_up", body: {}, done: "answer" } : null),
  unload: ({ commands }) => (commands.includes("unload") ? [{ path: "/sleep?level=1", body: {}, done: "answer" }] : []),
  meaning: (answer) => meaningOf(answer, RULES),
};
