import { nameKey } from "@farmgate/shared";
import { z } from "zod";
import { type Adapter, PLAIN } from "./adapter.ts";
import { LLAMA_SERVER_RULES } from "./llama-server.ts";
import { type MeaningRule, meaningOf } from "./meaning.ts";
import { catalogModel, catalogReport, figure, maybeText, modelName, readAliases, readList } from "./read-model.ts";

const list = z.object({ data: z.unknown().optional() });
const card = z.object({ id: modelName, aliases: z.unknown().optional() });
const health = z.object({
  currentModel: maybeText,
  queueByModel: z.record(z.string(), figure).nullish().catch(null),
  tokSByModel: z.record(z.string(), figure).nullish().catch(null),
});

/** Its own words; any other answer comes from the engine behind it. */
const RULES: readonly MeaningRule[] = [
  { status: 400, text: /^unknown model/, meaning: "unknown_model" },
  { status: 503, text: /^(swap to|backend) "/, meaning: "load_failed" },
  ...LLAMA_SERVER_RULES,
];

/**
 * Jano: several models on one machine, one of them loaded (`currentModel`), one request at a time in all, and a
 * script that swaps when a request asks for another.
 */
export const jano: Adapter = {
  ...PLAIN,
  engine: "jano",
  catalogPath: "/v1/models",
  extraPath: "/health",
  loadsOnRequest: true,
  defaultSlots: 1,
  parse(main, extra) {
    const parsed = list.safeParse(main);
    if (!parsed.success || parsed.data.data === undefined) return null;
    const models = readList(parsed.data.data, card);
    if (models === null) return null;
    const told = health.safeParse(extra).data ?? null;
    return catalogReport(
      models.map(({ id, aliases }) =>
        catalogModel(id, stateOf(id, told), {
          aliases: readAliases(aliases, id),
          queued: figureOf(told?.queueByModel, id),
          tokensPerSecond: figureOf(told?.tokSByModel, id),
        }),
      ),
      { slots: 1 },
    );
  },
  meaning: (answer) => meaningOf(answer, RULES),
};

/** Before its first request it may not know itself what is loaded. */
function stateOf(id: string, told: z.output<typeof health> | null) {
  const current = told?.currentModel ?? "";
  if (current === "") return "unknown";
  return nameKey(current) === nameKey(id) ? "warm" : "cold";
}

function figureOf(figures: Record<string, number | null | undefined> | null | undefined, id: string): number | null {
  return figures && Object.hasOwn(figures, id) ? (figures[id] ?? null) : null;
}
