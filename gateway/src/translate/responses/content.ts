import { FarmError } from "@farmgate/shared";
import { objectOf, textOf } from "../json-fields.ts";
import { kindOf } from "../request-fields.ts";
import type { JsonObject } from "../translation.ts";

/**
 * A message's content as chat has it: one text where it is text alone, which every engine takes, else a list of parts.
 * Throws the FarmError that refuses what chat has no part for.
 */
export function toChatContent(content: unknown, param: string): string | JsonObject[] {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) {
    throw new FarmError("invalid_request", `"${param}" must be a text or a list of parts.`, { param });
  }
  const parts = content.map((part) => toChatPart(objectOf(part), param));
  if (parts.every((part) => part["type"] === "text")) return parts.map((part) => textOf(part["text"])).join("\n");
  return parts;
}

function toChatPart(part: JsonObject, param: string): JsonObject {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "text":
    case "summary_text":
    case "reasoning_text":
      return { type: "text", text: textOf(part["text"]) };
    case "refusal":
      return { type: "text", text: textOf(part["refusal"]) };
    case "input_image":
      return toChatImage(part, param);
    case "input_audio":
      return { type: "input_audio", input_audio: part["input_audio"] };
    default:
      throw new FarmError("not_supported", `Content of type ${kindOf(part["type"])} is not supported here.`, {
        param,
      });
  }
}

function toChatImage({ image_url: url, detail }: JsonObject, param: string): JsonObject {
  if (typeof url !== "string") {
    throw new FarmError("not_supported", "Images must come as `image_url`: no files are kept here.", { param });
  }
  return { type: "image_url", image_url: typeof detail === "string" ? { url, detail } : { url } };
}
