import { FarmError } from "@farmgate/shared";
import { listOf, objectOf, pick, textOf } from "../json-fields.ts";
import { kindOf, lacking, listOrNoneAt, nameAt, objectAt } from "../request-fields.ts";
import type { JsonObject, TranslationContext, Translator } from "../translation.ts";
import { toOllamaMessages } from "./chat-messages.ts";
import { ChatWriter } from "./chat-writer.ts";
import { refuseWhatOllamaLacks, toOptions, wantsUsage } from "./options.ts";
import { readLine, readWhole } from "./read-line.ts";

/**
 * OpenAI's chat over Ollama's own. Ollama cannot be made to call a tool: `required` is a wish there, as it is to
 * Ollama's own `/v1`; of a named one only that one is offered.
 */
export const chatToOllama: Translator = (body, context) => {
  const writer = () => new ChatWriter(context, wantsUsage(body));
  return {
    api: "ollama-chat",
    body: toBody(body, context),
    streams: body["stream"] === true,
    whole: (answer) => writer().whole(readWhole(answer)),
    wholeAsStream: (answer) => writer().line(readWhole(answer)),
    stream: () => {
      const lines = writer();
      return { push: ({ data }) => lines.line(readLine(data)), end: () => (lines.isDone ? "" : null) };
    },
  };
};

function toBody(body: JsonObject, { model }: TranslationContext): JsonObject {
  refuseWhatOllamaLacks(body);
  const tools = toTools(body);
  return {
    model,
    messages: toOllamaMessages(body["messages"]),
    stream: body["stream"] === true,
    ...(tools.length === 0 ? {} : { tools }),
    ...toFormat(objectOf(body["response_format"])),
    ...toThink(body),
    ...toOptions(body),
  };
}

function toTools(body: JsonObject): readonly object[] {
  const choice = body["tool_choice"];
  if (choice === "none") return [];
  const named = namesIn(objectOf(choice));
  return listOrNoneAt(body["tools"], "tools").flatMap((tool, i) => {
    const { type, function: told } = objectAt(tool, `tools[${i}]`);
    if (type !== "function") {
      const message = `Tools of type ${kindOf(type)} are not supported by the workers with this model.`;
      throw new FarmError("not_supported", message, { param: "tools" });
    }
    const described = pick(objectOf(told), { name: "name", description: "description", parameters: "parameters" });
    const name = nameAt(described["name"], `tools[${i}].function.name`);
    return named === null || named.has(name) ? [{ type, function: described }] : [];
  });
}

/** The functions to which a choice is bound; null: to none. */
function namesIn(choice: JsonObject): ReadonlySet<string> | null {
  if (choice["type"] === "function") return new Set([textOf(objectOf(choice["function"])["name"])]);
  if (choice["type"] !== "allowed_tools") return null;
  const allowed = listOf(objectOf(choice["allowed_tools"])["tools"]);
  return new Set(allowed.map((tool) => textOf(objectOf(objectOf(tool)["function"])["name"])));
}

function toFormat(format: JsonObject): { format?: unknown } {
  switch (format["type"]) {
    case undefined:
    case "text":
      return {};
    case "json_object":
      // llama.cpp takes a schema there.
      return { format: format["schema"] ?? "json" };
    case "json_schema":
      return { format: objectOf(format["json_schema"])["schema"] ?? "json" };
    default:
      throw lacking("response_format", `the workers with this model have no ${kindOf(format["type"])}.`);
  }
}

/** OpenAI has more steps than Ollama, at both ends. */
const THINK: Readonly<Record<string, boolean | string>> = {
  none: false,
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
};

/** A template is only ever told not to think: an Ollama refuses to have a model think that cannot. */
function toThink(body: JsonObject): { think?: boolean | string } {
  const think = THINK[textOf(body["reasoning_effort"])];
  if (think !== undefined) return { think };
  return objectOf(body["chat_template_kwargs"])["enable_thinking"] === false ? { think: false } : {};
}
