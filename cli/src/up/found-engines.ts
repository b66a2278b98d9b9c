import { getJson } from "../get-json.ts";
import { listedModels } from "./listed-models.ts";

/** Where engines listen unless they are told otherwise. */
const USUAL_PORTS = [
  { port: 11434, name: "ollama" },
  { port: 1234, name: "lmstudio" },
  // llama-server, mlx_lm.server, llama-swap and LocalAI; newer llama-servers; vLLM; SGLang; TGI and TEI.
  { port: 8080, name: "engine-8080" },
  { port: 9931, name: "engine-9931" },
  { port: 8000, name: "engine-8000" },
  { port: 30000, name: "engine-30000" },
  { port: 3000, name: "engine-3000" },
  { port: 5001, name: "koboldcpp" },
  { port: 13305, name: "lemonade" },
] as const;

const ANSWER_MS = 1_500;

export interface FoundEngine {
  name: string;
  url: string;
  models: readonly string[];
}

/** The engines of this machine that list at least one model. It only reads, and only from loopback. */
export async function findEngines(
  ports: readonly { port: number; name: string }[] = USUAL_PORTS,
): Promise<FoundEngine[]> {
  const found = await Promise.all(
    ports.map(async ({ port, name }) => {
      const url = `http://127.0.0.1:${port}`;
      return { name, url, models: await modelsAt(url) };
    }),
  );
  return found.filter((engine) => engine.models.length > 0);
}

async function modelsAt(url: string): Promise<string[]> {
  for (const path of ["/v1/models", "/api/tags", "/info"]) {
    try {
      const answer = await getJson(url + path, { timeoutMs: ANSWER_MS });
      const models = answer.status === 200 ? listedModels(answer.value) : [];
      if (models.length > 0) return models;
    } catch {
      // Nothing listens there, or it is slow to speak: no engine that could be used at once.
      return [];
    }
  }
  return [];
}
