import type { Body, TextApi } from "./answer-plan.ts";

/** A function that the answer must call. */
export interface DemandedTool {
  name: string;
  /** JSON schema of its arguments. */
  parameters: unknown;
}

/** The function that `tool_choice` demands: the named one, or where any will do the first. */
export function demandedTool(api: TextApi, body: Body): DemandedTool | null {
  const tools = Array.isArray(body["tools"]) ? body["tools"].map((tool) => (tool ?? {}) as Body) : [];
  const choice = body["tool_choice"];
  const detail = (typeof choice === "object" && choice !== null ? choice : {}) as Body;
  if (api === "messages") {
    if (detail["type"] !== "any" && detail["type"] !== "tool") return null;
    const offered = tools.map((tool) => ({ name: tool["name"], parameters: tool["input_schema"] }));
    return pickTool(offered, detail["name"]);
  }
  const named = ((detail["function"] ?? {}) as Body)["name"];
  if (api !== "chat" || (choice !== "required" && typeof named !== "string")) return null;
  const offered = tools.map((tool) => (tool["function"] ?? {}) as Body);
  return pickTool(
    offered.map(({ name, parameters }) => ({ name, parameters })),
    named,
  );
}

/** The schema that a structured answer must fit, or null. */
export function demandedSchema(body: Body): unknown {
  const format = (body["response_format"] ?? {}) as Body;
  if (format["type"] === "json_object") return format["schema"] ?? { properties: { answer: { type: "string" } } };
  if (format["type"] !== "json_schema") return null;
  return ((format["json_schema"] ?? {}) as Body)["schema"] ?? null;
}

function pickTool(offered: readonly { name: unknown; parameters: unknown }[], named: unknown): DemandedTool | null {
  for (const { name, parameters } of offered) {
    if (typeof name === "string" && (named === undefined || named === name)) return { name, parameters };
  }
  return null;
}
