import { nameKey } from "@farmgate/shared";
import { z } from "zod";

/** The part of an engine's `/v1/models` that matters here; Ollama without models sends `data: null`. */
const listSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      aliases: z.array(z.string()).nullish().catch(null),
      status: z.object({ value: z.string() }).nullish().catch(null),
    }),
  ),
});

/**
 * Whether an engine's `/v1/models` names the model as one that it serves now. Where the list carries a status
 * (llama-server's router) the model must be loaded, or asleep, which its next request ends.
 */
export function namesModel(body: string, engineName: string): boolean {
  const list = listSchema.safeParse(parseJson(body));
  if (!list.success) return false;
  const key = nameKey(engineName);
  const entry = list.data.data.find(({ id, aliases }) =>
    [id, ...(aliases ?? [])].some((name) => nameKey(name) === key),
  );
  if (entry === undefined) return false;
  const status = entry.status?.value;
  return status === undefined || status === "loaded" || status === "sleeping";
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
