import type { Api } from "@farmgate/shared";
import type { Adapter } from "./adapter.ts";
import { meaningOf } from "./meaning.ts";
import { openai } from "./openai.ts";

const APIS: readonly Api[] = ["chat", "completions"];

/**
 * `mlx_lm.server`: lists what the disk has, loads whatever a request names, keeps one model and never tells which.
 * Its 404 stands for an unknown model as well as for a failed load; both set the pair aside.
 */
export const mlx: Adapter = {
  engine: "mlx",
  catalogPath: "/v1/models",
  olderCatalogPath: null,
  extraPath: null,
  livenessPath: "/health",
  swapsUnseen: true,
  parse(main, extra) {
    const report = openai.parse(main, extra);
    if (report === null) return null;
    return { ...report, models: report.models.map((model) => ({ ...model, apis: APIS })), refusesUnknown: false };
  },
  load: () => null,
  unload: () => [],
  meaning: (answer) => meaningOf(answer, []),
};
