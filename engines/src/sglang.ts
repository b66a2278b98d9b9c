import { z } from "zod";
import { type Adapter, PLAIN } from "./adapter.ts";
import { meaningOf } from "./meaning.ts";
import { OPENAI_RULES } from "./openai.ts";
import {
  catalogModel,
  catalogReport,
  figure,
  maybeText,
  modelName,
  readList,
  slotsOf,
  textOrNull,
} from "./read-model.ts";

const list = z.object({ data: z.unknown().optional() });
const card = z.object({ id: modelName, max_model_len: figure });
const server = z.object({ max_running_requests: figure, quantization: maybeText });

/**
 * SGLang: one model, always loaded; what it does with another name is not settled, so it stands only for what it
 * lists. `/get_server_info` has its arguments, of which the number of requests at once is only there when it was set.
 */
export const sglang: Adapter = {
  ...PLAIN,
  engine: "sglang",
  catalogPath: "/v1/models",
  extraPath: "/get_server_info",
  // Its `/health` can be set to run a real generation.
  livenessPath: "/",
  parse(main, extra) {
    const parsed = list.safeParse(main);
    if (!parsed.success || parsed.data.data === undefined) return null;
    const models = readList(parsed.data.data, card);
    if (models === null) return null;
    const told = server.safeParse(extra).data;
    const quantization = textOrNull(told?.quantization);
    return catalogReport(
      models.map(({ id, max_model_len: length }) =>
        catalogModel(id, "warm", { contextLength: length ?? null, quantization }),
      ),
      { refusesUnknown: false, slots: slotsOf(told?.max_running_requests) },
    );
  },
  meaning: (answer) => meaningOf(answer, OPENAI_RULES),
};
