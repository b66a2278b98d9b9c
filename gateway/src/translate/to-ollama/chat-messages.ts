import { FarmError } from "@farmgate/shared";
import { argumentsOf } from "../chat/call-args.ts";
import { isObject, listOf, nestsTooDeep, objectOf, textOf } from "../json-fields.ts";
import { kindOf, lacking, listAt, nameAt, objectAt, wrong } from "../request-fields.ts";
import type { JsonObject } from "../translation.ts";

/** OpenAI's messages as Ollama has them. Throws the FarmError that refuses them. */
export function toOllamaMessages(messages: unknown): readonly JsonObject[] {
  /** The functions of calls that were made so far, by the calls' ids: Ollama's results name the function. */
  const called = new Map<string, string>();
  return listAt(messages, "messages").map((message, i) => {
    const param = `messages[${i}]`;
    return toMessage(objectAt(message, param), called, param);
  });
}

function toMessage(message: JsonObject, called: Map<string, string>, param: string): JsonObject {
  const role = roleOf(message["role"], param);
  if (isObject(message["function_call"]))
    throw lacking(param, "send `tool_calls` in place of the older `function_call`.");
  const calls = listOf(message["tool_calls"]).map((call) => toCall(objectOf(call), called, param));
  const thinking = textOf(message["reasoning_content"]) || textOf(message["reasoning"]);
  const id = textOf(message["tool_call_id"]);
  const toolName = textOf(message["name"]) || called.get(id) || "";
  return {
    role,
    ...toContent(message["content"] ?? message["refusal"], param),
    ...(thinking === "" ? {} : { thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(role === "tool" && toolName !== "" ? { tool_name: toolName } : {}),
    ...(role === "tool" && id !== "" ? { tool_call_id: id } : {}),
  };
}

function roleOf(role: unknown, param: string): string {
  if (role === "developer") return "system";
  return role === "function" ? "tool" : nameAt(role, `${param}.role`);
}

function toCall(call: JsonObject, called: Map<string, string>, param: string): JsonObject {
  const id = textOf(call["id"]);
  const { name, arguments: text } = objectOf(call["function"]);
  const told = nameAt(name, `${param}.tool_calls`);
  called.set(id, told);
  const given = isObject(text) ? text : argumentsOf(textOf(text));
  if (given === null || nestsTooDeep(given)) {
    throw wrong(param, "the arguments of its calls must be JSON objects.");
  }
  return { ...(id === "" ? {} : { id }), function: { name: told, arguments: given } };
}

function toContent(content: unknown, param: string): { content: string; images?: string[] } {
  if (!Array.isArray(content)) return { content: textOf(content) };
  const texts: string[] = [];
  const images: string[] = [];
  for (const part of content.map(objectOf)) {
    if (part["type"] === "text") texts.push(textOf(part["text"]));
    else if (part["type"] === "refusal") texts.push(textOf(part["refusal"]));
    else if (part["type"] === "image_url") images.push(toImage(part["image_url"], param));
    else {
      const message = `Content of type ${kindOf(part["type"])} is not supported by the workers with this model.`;
      throw new FarmError("not_supported", message, { param });
    }
  }
  return { content: texts.join("\n"), ...(images.length === 0 ? {} : { images }) };
}

/** Ollama takes the bytes of an image alone, as base64. */
function toImage(image: unknown, param: string): string {
  const url = textOf(image) || textOf(objectOf(image)["url"]);
  const comma = url.indexOf(",");
  if (/^data:[^,]{0,200};base64$/i.test(url.slice(0, Math.max(0, comma)))) return url.slice(comma + 1);
  throw new FarmError(
    "not_supported",
    "The workers with this model fetch no images: send each as a data URL (data:image/png;base64,...).",
    { param },
  );
}
