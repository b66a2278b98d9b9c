import { z } from "zod";
import { type Adapter, PLAIN } from "./adapter.ts";
import { type MeaningRule, meaningOf } from "./meaning.ts";
import { catalogModel, catalogReport, figure, maybeText, modelName, slotsOf, textOrNull } from "./read-model.ts";

const info = z.object({
  model_id: modelName,
  model_sha: maybeText,
  max_concurrent_requests: figure,
  max_total_tokens: figure,
});

/** Its own words for an engine that has died behind it; all else goes by the status (429 is its full queue). */
const RULES: readonly MeaningRule[] = [{ status: 503, type: "healthcheck", meaning: "worker_fault" }];

/** Text Generation Inference: one model, always loaded, any name accepted, told by `/info`. */
export const tgi: Adapter = {
  ...PLAIN,
  engine: "tgi",
  catalogPath: "/info",
  parse(main) {
    const parsed = info.safeParse(main);
    if (!parsed.success) return null;
    const { model_id: id, model_sha: sha, max_total_tokens: tokens, max_concurrent_requests: slots } = parsed.data;
    const known = { kind: "chat", contextLength: tokens ?? null, digest: textOrNull(sha) };
    return catalogReport([catalogModel(id, "warm", known)], { refusesUnknown: false, slots: slotsOf(slots) });
  },
  meaning: (answer) => meaningOf(answer, RULES),
};
