import { z } from "zod";
import type { TranslationContext } from "../translation.ts";
import { isLenient } from "../dialect.ts";
import { contentWith } from "./images.ts";

const toolCall = z.object({
  id: z.string().nullish(),
  function: z.object({ name: z.string().min(1), arguments: z.unknown() }),
});

export const message = z.object({
  role: z
    .string()
    .min(1)
    .transform((role) => role.toLowerCase()),
  content: z.string().nullish(),
  thinking: z.string().nullish(),
  images: z.array(z.string()).nullish(),
  tool_calls: z.array(toolCall).nullish(),
  tool_name: z.string().nullish(),
  tool_call_id: z.string().nullish(),
});
type Message = z.output<typeof message>;
type ToolCall = z.output<typeof toolCall>;

/** A call of an earlier answer that no result was sent for yet. */
interface OpenCall {
  id: string;
  name: string;
}

/**
 * A conversation as OpenAI-like engines take it. Theirs tie each tool's result to its call by an id, which older
 * clients of Ollama do not send: a result without one belongs to the first open call of its `tool_name`, or else to the
 * first open call.
 */
export function openaiMessages(messages: readonly Message[], { engine }: TranslationContext): object[] {
  const open: OpenCall[] = [];
  return messages.map((one, at) => {
    const content = contentWith(one.content ?? "", one.images);
    if (one.role === "tool") {
      return { role: "tool", content, tool_call_id: takeCall(open, one)?.id ?? `call_${at}` };
    }
    if (one.role !== "assistant") return { role: one.role, content };
    const calls = (one.tool_calls ?? []).map((call, i) => openaiCall(call, `call_${at}_${i}`));
    for (const { id, function: called } of calls) open.push({ id, name: called.name });
    const thought = one.thinking && isLenient(engine) ? { reasoning_content: one.thinking } : {};
    return { role: "assistant", content, ...thought, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  });
}

function openaiCall({ id, function: called }: ToolCall, fallbackId: string) {
  const given = called.arguments ?? {};
  const text = typeof given === "string" ? given : JSON.stringify(given);
  return { id: id || fallbackId, type: "function", function: { name: called.name, arguments: text } };
}

function takeCall(open: OpenCall[], { tool_call_id, tool_name }: Message): OpenCall | undefined {
  const byId = (call: OpenCall) => call.id === tool_call_id;
  const byName = (call: OpenCall) => call.name === tool_name;
  if (tool_call_id) {
    const at = open.findIndex(byId);
    if (at >= 0) open.splice(at, 1);
    return { id: tool_call_id, name: "" };
  }
  const at = tool_name ? open.findIndex(byName) : -1;
  return open.splice(Math.max(0, at), 1)[0];
}
