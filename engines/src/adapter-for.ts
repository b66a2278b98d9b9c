import { isErrorCode } from "@farmgate/shared";
import type { EngineName } from "./catalog.ts";
import type { Adapter } from "./adapter.ts";
import { agent } from "./agent.ts";
import { readErrorText } from "./error-text.ts";
import { jano } from "./jano.ts";
import { koboldcpp } from "./koboldcpp.ts";
import { lemonade } from "./lemonade.ts";
import { llamaServer } from "./llama-server.ts";
import { llamaSwap } from "./llama-swap.ts";
import { lmstudio } from "./lmstudio.ts";
import { localai } from "./localai.ts";
import type { AnswerMeaning, WorkerAnswer } from "./meaning.ts";
import { mlx } from "./mlx.ts";
import { ollama } from "./ollama.ts";
import { openai } from "./openai.ts";
import { sglang } from "./sglang.ts";
import { tei } from "./tei.ts";
import { tgi } from "./tgi.ts";
import { vllm } from "./vllm.ts";
import { whisper } from "./whisper.ts";

const ADAPTERS: Readonly<Record<EngineName, Adapter>> = {
  agent,
  ollama,
  "llama-server": llamaServer,
  vllm,
  lmstudio,
  "llama-swap": llamaSwap,
  mlx,
  tei,
  tgi,
  sglang,
  localai,
  lemonade,
  koboldcpp,
  whisper,
  jano,
  openai,
};

/** The adapter of an engine. */
export function adapterFor(engine: EngineName): Adapter {
  return ADAPTERS[engine];
}

/**
 * What a worker's answer other than 2xx means. One that was not recognised (null, or taken for a generic OpenAI
 * server) may be an agent whose catalogue has not come yet: where its answer has one of our own codes it is read as
 * an agent's, so that a load that failed is not taken for a full queue.
 */
export function meaningFrom(engine: EngineName | null, answer: WorkerAnswer): AnswerMeaning {
  const generic = engine === null || engine === "openai";
  if (generic && isErrorCode(readErrorText(answer.body).code)) return agent.meaning(answer);
  return adapterFor(engine ?? "openai").meaning(answer);
}
