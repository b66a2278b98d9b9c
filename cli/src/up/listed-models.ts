import { z } from "zod";

const openAiList = z.object({ data: z.array(z.object({ id: z.string().min(1) })) });
const ollamaList = z.object({ models: z.array(z.object({ name: z.string().min(1) })) });

/** TEI and TGI have one model, which they tell there. */
const info = z.object({ model_id: z.string().min(1), served_model_name: z.string().min(1).nullish().catch(null) });

/** The models of an OpenAI or an Ollama list, or the one of an `/info`; none when the answer is something else. */
export function listedModels(answer: unknown): string[] {
  const openAi = openAiList.safeParse(answer);
  if (openAi.success) return openAi.data.data.map((entry) => entry.id);
  const ollama = ollamaList.safeParse(answer);
  if (ollama.success) return ollama.data.models.map((entry) => entry.name);
  const single = info.safeParse(answer);
  return single.success ? [single.data.served_model_name ?? single.data.model_id] : [];
}
