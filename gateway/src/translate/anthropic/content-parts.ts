import type { JsonObject } from "../translation.ts";
import { isObject } from "../json-fields.ts";
import { kindOf, lacking, listAt, objectAt, textAt, wrong } from "../request-fields.ts";

/** A block of content and where it stands in the request. */
export interface Block {
  type: string;
  block: JsonObject;
  at: string;
}

/** A part of a chat message's content. */
export type ChatPart = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

/** What a message, or the result of a tool, holds: one text, or blocks. */
export function blocksOf(content: unknown, at: string): Block[] {
  if (typeof content === "string") return [{ type: "text", block: { type: "text", text: content }, at }];
  return listAt(content, at).map((value, i) => {
    const block = objectAt(value, `${at}.${i}`);
    return { type: textAt(block["type"], `${at}.${i}.type`), block, at: `${at}.${i}` };
  });
}

/** What a block that speaks to the model comes to. Throws the error that refuses any other one. */
export function partsOf({ type, block, at }: Block): ChatPart[] {
  switch (type) {
    case "text":
      return textPart(textAt(block["text"], `${at}.text`));
    case "image":
      return [imagePart(objectAt(block["source"], `${at}.source`), `${at}.source`)];
    case "document":
      return documentParts(block, at);
    case "search_result":
      return withHeading([block["title"], block["source"]], partsOfAll(block["content"], `${at}.content`));
    default:
      throw lacking(at, `No worker with this model takes blocks of the type ${kindOf(type)}. Send text instead.`);
  }
}

/** One text where all parts are texts, else the parts. */
export function contentOf(parts: readonly ChatPart[]): string | readonly ChatPart[] {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === parts.length ? texts.join("\n\n") : parts;
}

function partsOfAll(content: unknown, at: string): ChatPart[] {
  return blocksOf(content, at).flatMap(partsOf);
}

function textPart(text: string): ChatPart[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function imagePart(source: JsonObject, at: string): ChatPart {
  if (source["type"] === "url") return { type: "image_url", image_url: { url: textAt(source["url"], `${at}.url`) } };
  if (source["type"] !== "base64") {
    throw lacking(at, "Only pictures as base64 or by their URL can be sent to the workers of this farm.");
  }
  const mediaType = textAt(source["media_type"], `${at}.media_type`);
  return { type: "image_url", image_url: { url: `data:${mediaType};base64,${textAt(source["data"], `${at}.data`)}` } };
}

/** Texts stay texts, under their title; a PDF would have to be read first, which is not for a gateway to do. */
function documentParts(block: JsonObject, at: string): ChatPart[] {
  const source = block["source"];
  const heading = [block["title"], block["context"]];
  if (!isObject(source)) throw wrong(`${at}.source`, "expected an object.");
  if (source["type"] === "text") return withHeading(heading, textPart(textAt(source["data"], `${at}.source.data`)));
  if (source["type"] === "content") return withHeading(heading, partsOfAll(source["content"], `${at}.source.content`));
  throw lacking(at, "No worker with this model reads PDFs or stored files. Send the document's text instead.");
}

function withHeading(lines: readonly unknown[], parts: readonly ChatPart[]): ChatPart[] {
  const heading = lines.filter((line) => typeof line === "string" && line !== "").join("\n");
  return [...textPart(heading), ...parts];
}
