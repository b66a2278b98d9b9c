import { z } from "zod";
import { getJson } from "../get-json.ts";

const PATIENCE_MS = 5_000;
/** Names of models that do not chat; many engines list all of theirs as one kind. */
const NO_CHAT = /embed|rerank|whisper|tts|bge-|e5-/i;

const listSchema = z.object({
  data: z.array(
    z.object({ id: z.string(), farmgate: z.object({ kind: z.string(), warm: z.array(z.string()) }).optional() }),
  ),
});

/** A model that a first question may go to: a chat model, and a warm one where there is one. null: none is listed. */
export async function exampleModel(
  gatewayUrl: string,
  key: string | null,
  shows: string | null = null,
): Promise<string | null> {
  try {
    const answer = await getJson(`${gatewayUrl}/v1/models`, { key, shows, timeoutMs: PATIENCE_MS });
    return pick(answer.value);
  } catch {
    // The welcome then shows a placeholder; the gateway itself is up.
    return null;
  }
}

/** The same choice from a model list. */
export function pick(list: unknown): string | null {
  const parsed = listSchema.safeParse(list);
  if (!parsed.success) return null;
  const chat = parsed.data.data.filter(
    (model) => (model.farmgate?.kind ?? "chat") === "chat" && !NO_CHAT.test(model.id),
  );
  const warm = chat.find((model) => (model.farmgate?.warm.length ?? 0) > 0);
  return (warm ?? chat[0])?.id ?? null;
}
