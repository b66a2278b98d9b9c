import type { Message, MessageBlock } from "./message.ts";
import type { MessageStop } from "./message-stop.ts";
import type { MessageUsage } from "./message-usage.ts";

/** One event of a stream. The official SDK goes by its name, others by its `type`. */
function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

export function messageStart(message: Message): string {
  return event("message_start", { message });
}

/** `usage` counts the whole message. */
export function messageEnd({ stop_reason, stop_sequence }: MessageStop, usage: MessageUsage): string {
  return event("message_delta", { delta: { stop_reason, stop_sequence }, usage }) + event("message_stop", {});
}

/** A block that is begun: without what will follow as its deltas. */
export function blockStart(index: number, block: MessageBlock): string {
  return event("content_block_start", { index, content_block: block });
}

/** More of a block: of a call, JSON text. */
export function blockDelta(index: number, type: MessageBlock["type"], text: string): string {
  const delta = {
    thinking: { type: "thinking_delta", thinking: text },
    text: { type: "text_delta", text },
    tool_use: { type: "input_json_delta", partial_json: text },
  }[type];
  return event("content_block_delta", { index, delta });
}

/** A thought is signed by Anthropic alone: its signature is empty here. */
export function blockStop(index: number, type: MessageBlock["type"]): string {
  const signature = { index, delta: { type: "signature_delta", signature: "" } };
  return (type === "thinking" ? event("content_block_delta", signature) : "") + event("content_block_stop", { index });
}

/** A whole message as the stream that it would have been. */
export function messageAsEvents(message: Message): string {
  const blocks = message.content.map((block, index) => {
    const { opening, rest } = opened(block);
    const delta = rest === "" ? "" : blockDelta(index, block.type, rest);
    return blockStart(index, opening) + delta + blockStop(index, block.type);
  });
  const { content: _content, stop_reason, stop_sequence, usage, ...head } = message;
  const start = { ...head, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 0 } };
  return messageStart(start) + blocks.join("") + messageEnd({ stop_reason, stop_sequence }, usage);
}

function opened(block: MessageBlock): { opening: MessageBlock; rest: string } {
  switch (block.type) {
    case "thinking":
      return { opening: { ...block, thinking: "" }, rest: block.thinking };
    case "text":
      return { opening: { ...block, text: "" }, rest: block.text };
    case "tool_use":
      return { opening: { ...block, input: {} }, rest: JSON.stringify(block.input) };
  }
}
