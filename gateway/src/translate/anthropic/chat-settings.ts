import type { JsonObject } from "../translation.ts";
import { isObject, objectAt, textAt, wrong } from "./fields.ts";

/** Numbers that chat has under the same name; `top_k` is none of OpenAI's, but every local engine reads it. */
const NUMBERS = ["max_tokens", "temperature", "top_p", "top_k"] as const;

/** What may be set of an answer, as chat has it. What has no meaning here (`metadata`, `cache_control`) is left out. */
export function chatSettings(body: JsonObject): JsonObject {
  const settings: Record<string, unknown> = {};
  for (const name of NUMBERS) {
    const value = body[name];
    if (value == null) continue;
    if (typeof value !== "number") throw wrong(name, "expected a number.");
    settings[name] = value;
  }
  const stops = stopSequences(body);
  if (stops.length > 0) settings["stop"] = stops;
  return { ...settings, ...chatThinking(body), ...effort(body), ...format(body) };
}

export function stopSequences({ stop_sequences: stops }: JsonObject): readonly string[] {
  if (stops == null) return [];
  if (!Array.isArray(stops)) throw wrong("stop_sequences", "expected a list.");
  return stops.map((stop, i) => textAt(stop, `stop_sequences.${i}`));
}

/**
 * Whether the model thinks is its chat template's to say: llama.cpp, vLLM, SGLang and mlx hand it these arguments.
 * `adaptive` leaves it to the model, as no word does. A budget goes nowhere: no engine without Anthropic's API has one.
 */
export function chatThinking({ thinking }: JsonObject): JsonObject {
  if (thinking == null) return {};
  const type = objectAt(thinking, "thinking")["type"];
  if (type !== "enabled" && type !== "disabled") return {};
  return { chat_template_kwargs: { enable_thinking: type === "enabled" } };
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
