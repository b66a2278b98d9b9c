import type { EngineName } from "@farmgate/engines";
import { isLenient, knowsEffortNone } from "../dialect.ts";
import type { JsonObject, TranslationContext } from "../translation.ts";
import { isObject } from "../json-fields.ts";
import { objectAt, textAt, wrong } from "../request-fields.ts";

/** Numbers that chat has under the same name; `top_k` is none of OpenAI's, but every local engine reads it. */
const NUMBERS = ["max_tokens", "temperature", "top_p", "top_k"] as const;

/** What may be set of an answer, as chat has it. What has no meaning here (`metadata`, `cache_control`) is left out. */
export function chatSettings(body: JsonObject, { engine }: TranslationContext): JsonObject {
  const settings: Record<string, unknown> = {};
  for (const name of NUMBERS) {
    const value = body[name];
    if (value == null) continue;
    if (typeof value !== "number") throw wrong(name, "expected a number.");
    settings[name] = value;
  }
  const stops = stopSequences(body);
  if (stops.length > 0) settings["stop"] = stops;
  return { ...settings, ...effort(body), ...chatThinking(body, engine), ...format(body) };
}

export function stopSequences({ stop_sequences: stops }: JsonObject): readonly string[] {
  if (stops == null) return [];
  if (!Array.isArray(stops)) throw wrong("stop_sequences", "expected a list.");
  return stops.map((stop, i) => textAt(stop, `stop_sequences.${i}`));
}

/**
 * Whether the model thinks is its chat template's to say: llama.cpp, vLLM, SGLang and mlx hand it these arguments, and
 * Ollama reads an effort of none. `adaptive` leaves it to the model, as no word does. A budget goes nowhere: no engine
 * without Anthropic's API has one. A server that may refuse what it does not know is told nothing.
 */
export function chatThinking({ thinking }: JsonObject, engine: EngineName | null): JsonObject {
  if (thinking == null) return {};
  const type = objectAt(thinking, "thinking")["type"];
  if ((type !== "enabled" && type !== "disabled") || !isLenient(engine)) return {};
  return {
    chat_template_kwargs: { enable_thinking: type === "enabled" },
    ...(type === "disabled" && knowsEffortNone(engine) && { reasoning_effort: "none" }),
  };
}

/** OpenAI knows three of Anthropic's five levels. */
function effort({ output_config: config }: JsonObject): JsonObject {
  const level = isObject(config) ? config["effort"] : null;
  if (level === "low" || level === "medium" || level === "high") return { reasoning_effort: level };
  return level === "xhigh" || level === "max" ? { reasoning_effort: "high" } : {};
}

/** A schema that the answer must fit; `output_format` is its older place. */
function format({ output_config: config, output_format: older }: JsonObject): JsonObject {
  const asked = (isObject(config) ? config["format"] : null) ?? older;
  if (!isObject(asked)) return {};
  if (asked["type"] !== "json_schema") throw wrong("output_config.format.type", 'expected "json_schema".');
  const schema = objectAt(asked["schema"], "output_config.format.schema");
  return { response_format: { type: "json_schema", json_schema: { name: "answer", strict: true, schema } } };
}
