import { z } from "zod";

const openAiList = z.object({ data: z.array(z.object({ id: z.string().min(1) })) });
const ollamaList = z.object({ models: z.array(z.object({ name: z.string().min(1) })) });

/** The models of an OpenAI or an Ollama list; none when the answer is something else. */
export function listedModels(answer: unknown): string[] {
  const openAi = openAiList.safeParse(answer);
  if (openAi.success) return openAi.data.data.map((entry) => entry.id);
  const ollama = ollamaList.safeParse(answer);
  return ollama.success ? ollama.data.models.map((entry) => entry.name) : [];
}
