import type { JsonObject } from "../translation.ts";
import { isObject } from "../json-fields.ts";
import { kindOf, lacking, listAt, objectAt, textAt, wrong } from "../request-fields.ts";

/**
 * Tools and the choice among them, as chat has them.
 * A tool without a schema of its own is one of Anthropic's: it runs there, or only their models know its input. It is
 * refused rather than left out, since its caller counts on it.
 */
export function chatTools({ tools, tool_choice: choice, mcp_servers: servers }: JsonObject): JsonObject {
  if (Array.isArray(servers) && servers.length > 0) {
    throw lacking("mcp_servers", "The workers of this farm call no MCP servers. Call them yourself, as tools.");
  }
  const list = tools == null ? [] : listAt(tools, "tools");
  if (list.length === 0) return {};
  return {
    tools: list.map((tool, i) => toFunction(objectAt(tool, `tools.${i}`), `tools.${i}`)),
    ...(choice != null && toChoice(objectAt(choice, "tool_choice"))),
  };
}

function toFunction(tool: JsonObject, at: string): JsonObject {
  const { type, name, description, strict, input_schema: parameters } = tool;
  if (!isObject(parameters)) {
    if (type == null || type === "custom") throw wrong(`${at}.input_schema`, "expected an object.");
    throw lacking(
      at,
      `${kindOf(type)} is Anthropic's own, and no worker has it. Offer a tool with an \`input_schema\`.`,
    );
  }
  return {
    type: "function",
    function: {
      name: textAt(name, `${at}.name`),
      ...(typeof description === "string" && { description }),
      parameters,
      ...(typeof strict === "boolean" && { strict }),
    },
  };
}

function toChoice(choice: JsonObject): JsonObject {
  const sole = choice["disable_parallel_tool_use"] === true ? { parallel_tool_calls: false } : {};
  switch (choice["type"]) {
    case "auto":
      return { tool_choice: "auto", ...sole };
    case "any":
      return { tool_choice: "required", ...sole };
    case "none":
      return { tool_choice: "none" };
    case "tool": {
      const name = textAt(choice["name"], "tool_choice.name");
      return { tool_choice: { type: "function", function: { name } }, ...sole };
    }
    default:
      throw wrong("tool_choice.type", 'expected "auto", "any", "tool" or "none".');
  }
}
