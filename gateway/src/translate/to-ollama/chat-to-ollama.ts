import { FarmError } from "@farmgate/shared";
import { listOf, objectOf, pick, textOf } from "../json-fields.ts";
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
    ...toThink(body["reasoning_effort"]),
    ...toOptions(body),
  };
}

function toTools(body: JsonObject): readonly object[] {
  const choice = body["tool_choice"];
  if (choice === "none") return [];
  const named = objectOf(objectOf(choice)["function"])["name"];
  return listOf(body["tools"]).flatMap((tool) => {
    const { type, function: told } = objectOf(tool);
    if (type !== "function") {
      const message = `Tools of type ${JSON.stringify(type)} are not supported by the workers with this model.`;
      throw new FarmError("not_supported", message, { param: "tools" });
    }
    const described = pick(objectOf(told), { name: "name", description: "description", parameters: "parameters" });
    return named === undefined || described["name"] === named ? [{ type, function: described }] : [];
  });
}

function toFormat(format: JsonObject): { format?: unknown } {
  if (format["type"] === "json_object") return { format: "json" };
  if (format["type"] !== "json_schema") return {};
  return { format: objectOf(format["json_schema"])["schema"] ?? "json" };
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

function toThink(effort: unknown): { think?: boolean | string } {
  const think = THINK[textOf(effort)];
  return think === undefined ? {} : { think };
}
