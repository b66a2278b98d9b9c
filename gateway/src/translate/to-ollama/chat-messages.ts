import { FarmError, parseJson } from "@farmgate/shared";
import { listOf, objectOf, textOf } from "../json-fields.ts";
import type { JsonObject } from "../translation.ts";

/** OpenAI's messages as Ollama has them. Throws the FarmError that refuses them. */
export function toOllamaMessages(messages: unknown): readonly JsonObject[] {
  if (!Array.isArray(messages)) {
    throw new FarmError("invalid_request", '"messages" must be a list.', { param: "messages" });
  }
  /** The functions of calls that were made so far, by the calls' ids: Ollama's results name the function. */
  const called = new Map<string, string>();
  return messages.map((message, i) => toMessage(objectOf(message), called, `messages[${i}]`));
}

function toMessage(message: JsonObject, called: Map<string, string>, param: string): JsonObject {
  const role = message["role"] === "developer" ? "system" : textOf(message["role"]);
  const calls = listOf(message["tool_calls"]).map((call) => toCall(objectOf(call), called, param));
  const thinking = textOf(message["reasoning_content"]) || textOf(message["reasoning"]);
  const id = textOf(message["tool_call_id"]);
  const toolName = textOf(message["name"]) || called.get(id) || "";
  return {
    role,
    ...toContent(message["content"], param),
    ...(thinking === "" ? {} : { thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(role === "tool" && toolName !== "" ? { tool_name: toolName } : {}),
    ...(role === "tool" && id !== "" ? { tool_call_id: id } : {}),
  };
}

function toCall(call: JsonObject, called: Map<string, string>, param: string): JsonObject {
  const id = textOf(call["id"]);
  const { name, arguments: text } = objectOf(call["function"]);
  called.set(id, textOf(name));
  // A function without arguments is called with an empty text by some.
  const given = text === undefined || text === "" ? {} : parseJson(textOf(text));
  if (typeof given !== "object" || given === null) {
    throw new FarmError("invalid_request", `The arguments of a call in "${param}" are no JSON object.`, { param });
  }
  return { ...(id === "" ? {} : { id }), function: { name, arguments: given } };
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
      const message = `Content of type ${JSON.stringify(part["type"])} is not supported by the workers with this model.`;
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
