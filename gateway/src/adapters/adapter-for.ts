import type { EngineName } from "../catalog/types.ts";
import type { Adapter } from "./adapter.ts";
import { agent } from "./agent.ts";
import { llamaServer } from "./llama-server.ts";
import { llamaSwap } from "./llama-swap.ts";
import { lmstudio } from "./lmstudio.ts";
import { mlx } from "./mlx.ts";
import { ollama } from "./ollama.ts";
import { openai } from "./openai.ts";
import { tei } from "./tei.ts";
import { vllm } from "./vllm.ts";

const ADAPTERS: Readonly<Record<EngineName, Adapter>> = {
  agent,
  ollama,
  "llama-server": llamaServer,
  vllm,
  lmstudio,
  "llama-swap": llamaSwap,
  mlx,
  tei,
  openai,
};

/** The adapter of an engine. */
export function adapterFor(engine: EngineName): Adapter {
  return ADAPTERS[engine];
}
