import type { EngineName } from "@farmgate/engines";

/**
 * Engines that take fields which are not OpenAI's own, or pass over those that they do not know. OpenAI itself refuses
 * a request with one, and so may a server that was not recognised: it gets what a caller asked for, and nothing that
 * is only good to have.
 */
const LENIENT: ReadonlySet<EngineName> = new Set([
  "agent",
  "ollama",
  "llama-server",
  "vllm",
  "lmstudio",
  "llama-swap",
  "mlx",
  "tgi",
  "sglang",
  "localai",
  "lemonade",
  "koboldcpp",
]);

/** Engines whose older releases know only the efforts low, medium and high; an agent may stand before one. */
const NO_EFFORT_NONE: ReadonlySet<EngineName> = new Set(["agent", "vllm", "sglang", "tgi"]);

/** Engines that call it `repetition_penalty`. */
const REPETITION: ReadonlySet<EngineName> = new Set(["vllm", "sglang", "tgi", "mlx"]);

/** Engines that complete a text without regard to its suffix, or refuse one. */
const NO_SUFFIX: ReadonlySet<EngineName> = new Set(["llama-server", "llama-swap", "vllm", "sglang", "tgi", "mlx"]);

/** Engines that go on to the end of a text where the request sets no length; others stop after 16 tokens or so. */
const UNBOUNDED: ReadonlySet<EngineName> = new Set(["ollama", "llama-server", "llama-swap", "lmstudio", "koboldcpp"]);

/** Whether the engine may be sent more than OpenAI's own fields. */
export function isLenient(engine: EngineName | null): boolean {
  return engine !== null && LENIENT.has(engine);
}

export function knowsEffortNone(engine: EngineName | null): boolean {
  return engine === null || !NO_EFFORT_NONE.has(engine);
}

/** Under which names the engine takes a repeat penalty; an agent's engine is not known, so it gets both. */
export function repeatPenaltyNames(engine: EngineName | null): readonly string[] {
  if (engine === "agent") return ["repeat_penalty", "repetition_penalty"];
  return engine !== null && REPETITION.has(engine) ? ["repetition_penalty"] : ["repeat_penalty"];
}

/** Whether `/v1/completions` there fills in between a prompt and a suffix, as far as is known. */
export function completesBetween(engine: EngineName | null): boolean {
  return engine === null || !NO_SUFFIX.has(engine);
}

export function endsByItself(engine: EngineName | null): boolean {
  return engine !== null && UNBOUNDED.has(engine);
}
