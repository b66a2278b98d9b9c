import { FarmError } from "@farmgate/shared";
import { listOf, objectOf, pick, textOf } from "../json-fields.ts";
import { kindOf, listOrNoneAt, nameAt, objectAt } from "../request-fields.ts";
import type { JsonObject } from "../translation.ts";

/** What of a request concerns tools, as chat has it. */
export interface Tools {
  tools: readonly JsonObject[];
  choice: unknown;
  /** Names of those that take free text: chat has none, so that they are functions of one `input` there. */
  custom: ReadonlySet<string>;
}

const FREE_TEXT = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
  additionalProperties: false,
};

/** Throws `not_supported` for tools that OpenAI runs itself. */
export function readTools(body: JsonObject): Tools {
  const given = listOrNoneAt(body["tools"], "tools").map((tool, i) => objectAt(tool, `tools[${i}]`));
  const custom = new Set(given.filter(({ type }) => type === "custom").map(({ name }) => textOf(name)));
  const tools = given.map(toChatTool);
  const choice = objectOf(body["tool_choice"]);
  if (choice["type"] !== "allowed_tools") return { tools, choice: chosen(body["tool_choice"]), custom };
  const allowed = new Set(listOf(choice["tools"]).map((tool) => textOf(objectOf(tool)["name"])));
  const kept = tools.filter((tool) => allowed.has(textOf(objectOf(tool["function"])["name"])));
  return { tools: kept, choice: choice["mode"] ?? "auto", custom };
}

function toChatTool(tool: JsonObject): JsonObject {
  if (tool["type"] !== "function" && tool["type"] !== "custom") throw notHere(tool["type"], "tools");
  nameAt(tool["name"], "tools");
  const named = pick(tool, { name: "name", description: "description" });
  if (tool["type"] === "custom")
    return { type: "function", function: { ...named, ...withGrammar(tool), parameters: FREE_TEXT } };
  return { type: "function", function: { ...named, ...pick(tool, { parameters: "parameters", strict: "strict" }) } };
}

/** What the text of a tool must be like: chat can hold no model to it, but tell it. */
function withGrammar({ description, format }: JsonObject): object {
  const { type, syntax, definition } = objectOf(format);
  if (type !== "grammar") return {};
  const rule = `The input must match this ${textOf(syntax)} grammar:\n${textOf(definition)}`;
  return { description: [textOf(description), rule].filter((text) => text !== "").join("\n\n") };
}

function chosen(choice: unknown): unknown {
  if (typeof choice !== "object" || choice === null) return choice;
  const { type, name } = objectOf(choice);
  if (type !== "function" && type !== "custom") throw notHere(type, "tool_choice");
  return { type: "function", function: { name } };
}

function notHere(type: unknown, param: string): FarmError {
  return new FarmError(
    "not_supported",
    `Tools of type ${kindOf(type)} are run by no engine of this farm: offer tools of type "function".`,
    { param },
  );
}
