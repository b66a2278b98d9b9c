import { z } from "zod";
import { type Adapter, PLAIN } from "./adapter.ts";
import { meaningOf } from "./meaning.ts";
import { catalogModel, catalogReport, figure, modelName, readList } from "./read-model.ts";

const list = z.object({ data: z.unknown().optional() });
const card = z.object({ id: modelName });
const perf = z.object({ queue: figure });

const PREFIX = "koboldcpp/";

/**
 * KoboldCpp: one model, always loaded, any name accepted. It answers one request at a time; a handful may wait, and
 * above that it says 503. `/api/extra/perf` tells how many do.
 */
export const koboldcpp: Adapter = {
  ...PLAIN,
  engine: "koboldcpp",
  catalogPath: "/v1/models",
  extraPath: "/api/extra/perf",
  livenessPath: "/api/extra/version",
  defaultSlots: 1,
  parse(main, extra) {
    const parsed = list.safeParse(main);
    if (!parsed.success || parsed.data.data === undefined) return null;
    const models = readList(parsed.data.data, card);
    if (models === null) return null;
    const queued = perf.safeParse(extra).data?.queue ?? null;
    return catalogReport(
      models.map(({ id }) => catalogModel(id, "warm", { aliases: bareName(id), queued })),
      { refusesUnknown: false, slots: 1 },
    );
  },
  meaning: (answer) => meaningOf(answer, []),
};

/** Its names begin with its own; callers know the model without that. */
function bareName(id: string): string[] {
  const bare = modelName.safeParse(id.startsWith(PREFIX) ? id.slice(PREFIX.length) : null);
  return bare.success ? [bare.data] : [];
}
