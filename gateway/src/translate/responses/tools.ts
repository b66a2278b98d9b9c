import { FarmError } from "@farmgate/shared";
import { listOf, objectOf, pick, textOf } from "../json-fields.ts";
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
  const given = listOf(body["tools"]).map(objectOf);
  const custom = new Set(given.filter(({ type }) => type === "custom").map(({ name }) => textOf(name)));
  const tools = given.map(toChatTool);
  const choice = objectOf(body["tool_choice"]);
  if (choice["type"] !== "allowed_tools") return { tools, choice: chosen(body["tool_choice"]), custom };
  const allowed = new Set(listOf(choice["tools"]).map((tool) => textOf(objectOf(tool)["name"])));
  const kept = tools.filter((tool) => allowed.has(textOf(objectOf(tool["function"])["name"])));
  return { tools: kept, choice: choice["mode"] ?? "auto", custom };
}

function toChatTool(tool: JsonObject): JsonObject {
  const named = pick(tool, { name: "name", description: "description" });
  if (tool["type"] === "custom") return { type: "function", function: { ...named, parameters: FREE_TEXT } };
  if (tool["type"] !== "function") throw notHere(tool["type"], "tools");
  return { type: "function", function: { ...named, ...pick(tool, { parameters: "parameters", strict: "strict" }) } };
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
    `Tools of type ${JSON.stringify(type)} are run by no engine of this farm: offer tools of type "function".`,
    { param },
  );
}
