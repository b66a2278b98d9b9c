import { startTestEngine, startTestGateway } from "./gateway-farm.ts";
import type { Cleanup } from "./farmgate-process.ts";
import { startOldOllama } from "./old-ollama.ts";

/** Models of the farm, by what answers them. */
export const MODELS = {
  /** A new llama-server that speaks all of OpenAI's text APIs. */
  native: "qwen3-4b",
  /** A server with chat alone: `responses` is put as chat. */
  chatOnly: "small-chat",
  /** An Ollama from before /v1: everything is translated. */
  ollama: "llama3.2:latest",
  embedding: "nomic-embed",
  /** Its streams are reset after their first bytes. */
  broken: "breaks-off",
  /** Every request for it is refused as too busy. */
  busy: "always-busy",
  /** Answers 500. */
  failing: "always-fails",
  /** Never answers. */
  silent: "says-nothing",
} as const;

/** A gateway over engines of several kinds and ages. */
export async function startMixedFarm(cleanup: Cleanup, config: Parameters<typeof startTestGateway>[2] = {}) {
  const loaded = (name: string) => ({ name, loaded: true });
  const fast = await startTestEngine(cleanup, {
    models: [loaded(MODELS.native), { name: MODELS.embedding, kind: "embedding", loaded: true }],
  });
  const chatOnly = await startTestEngine(cleanup, { models: [loaded(MODELS.chatOnly)], apis: ["chat"] });
  const troubled = await startTestEngine(cleanup, {
    models: [loaded(MODELS.broken), loaded(MODELS.busy), loaded(MODELS.failing), loaded(MODELS.silent)],
    fail: [
      `reset-after-900-bytes@${MODELS.broken}`,
      `status-429@${MODELS.busy}`,
      `status-500@${MODELS.failing}`,
      `hang@${MODELS.silent}`,
    ],
  });
  const ollama = await startOldOllama(cleanup, [MODELS.ollama]);
  const workers = { fast: fast.url, "chat-only": chatOnly.url, troubled: troubled.url, ollama: ollama.url };
  const { url } = await startTestGateway(cleanup, workers, config);
  return { url, fast, chatOnly, ollama };
}
