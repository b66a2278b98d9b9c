import { FarmError } from "@farmgate/shared";
import { listOf, objectOf, pick, textOf } from "../json-fields.ts";
import { kindOf, listOrNoneAt, nameAt, objectAt } from "../request-fields.ts";
import type { JsonObject } from "../translation.ts";

/** What of a request concerns tools, as chat has it. */
export interface Tools {
  tools: readonly JsonObject[];
  choice: unknown;
  /** What a call by a name of chat means to the caller; a name that is not here means itself. */
  called: ReadonlyMap<string, CalledTool>;
}

/** A tool as the caller knows it. */
export interface CalledTool {
  name: string;
  /** The group of tools that it stands in; null: in none. */
  namespace: string | null;
  /** It takes free text: chat has no such tools, so that it is a function of one `input` there. */
  custom: boolean;
}

/** A tool of a namespace has one name in chat. */
export function nameInChat(namespace: unknown, name: string): string {
  return typeof namespace === "string" && namespace !== "" ? `${namespace}__${name}` : name;
}

const FREE_TEXT = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
  additionalProperties: false,
};

/** A tool that the caller's program runs, with the namespace that it stands in. */
interface OwnTool {
  tool: JsonObject;
  namespace: string | null;
}

/**
 * 1. Functions and tools of free text, in namespaces too, are offered as functions.
 * 2. Tools that OpenAI runs itself (searching the web, and so on) are left out where the model is free not to use them:
 *    clients offer them with every request. Where it must use a tool and none other is there, or the choice names one,
 *    that is refused.
 *
 * Throws `not_supported` and `invalid_request`.
 */
export function readTools(body: JsonObject): Tools {
  const given = listOrNoneAt(body["tools"], "tools").map((tool, i) => objectAt(tool, `tools[${i}]`));
  const own = given.flatMap(ownTools); // 1
  const others = given.find(({ type }) => !OWN_TYPES.has(type));
  const tools = own.map(toChatTool);
  const called = new Map(own.flatMap(calledTool));
  const choice = objectOf(body["tool_choice"]);
  const must = (choice["mode"] ?? body["tool_choice"]) === "required";
  if (others !== undefined && must && own.length === 0) throw notHere(others["type"], "tools"); // 2
  if (choice["type"] !== "allowed_tools") return { tools, choice: chosen(body["tool_choice"]), called };
  const allowed = new Set(listOf(choice["tools"]).map((tool) => chatNameOf(objectOf(tool))));
  const kept = tools.filter((tool) => allowed.has(textOf(objectOf(tool["function"])["name"])));
  return { tools: kept, choice: choice["mode"] ?? "auto", called };
}

const OWN_TYPES: ReadonlySet<unknown> = new Set(["function", "custom", "namespace"]);

function ownTools(tool: JsonObject): OwnTool[] {
  if (tool["type"] === "function" || tool["type"] === "custom") return [{ tool, namespace: null }];
  if (tool["type"] !== "namespace") return [];
  const namespace = nameAt(tool["name"], "tools");
  return listOrNoneAt(tool["tools"], "tools")
    .map((inner) => objectAt(inner, "tools"))
    .filter(({ type }) => type === "function" || type === "custom")
    .map((inner) => ({ tool: inner, namespace }));
}

/** What the caller cannot know by the name that chat has. */
function calledTool({ tool, namespace }: OwnTool): [string, CalledTool][] {
  const custom = tool["type"] === "custom";
  const name = textOf(tool["name"]);
  return custom || namespace !== null ? [[nameInChat(namespace, name), { name, namespace, custom }]] : [];
}

function chatNameOf({ name, namespace }: JsonObject): string {
  return nameInChat(namespace, textOf(name));
}

function toChatTool({ tool, namespace }: OwnTool): JsonObject {
  const name = nameInChat(namespace, nameAt(tool["name"], "tools"));
  const named = { name, ...pick(tool, { description: "description" }) };
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
  const given = objectOf(choice);
  if (given["type"] !== "function" && given["type"] !== "custom") throw notHere(given["type"], "tool_choice");
  return { type: "function", function: { name: chatNameOf(given) } };
}

function notHere(type: unknown, param: string): FarmError {
  return new FarmError(
    "not_supported",
    `Tools of type ${kindOf(type)} are run by no engine of this farm: offer tools of type "function".`,
    { param },
  );
}
