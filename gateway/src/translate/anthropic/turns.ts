import { type Block, blocksOf } from "./content-parts.ts";
import { listAt, objectAt, wrong } from "../request-fields.ts";

/** What one side said until the other spoke. */
export interface Turn {
  role: "user" | "assistant";
  blocks: Block[];
}

/**
 * The turns of a conversation, user and assistant by turns, as chat templates want them: what one side says in several
 * messages is one turn, as it is to Anthropic.
 * System messages before the first turn belong to the system text. A later one is put into the user's turn where it
 * stands: many templates refuse a system message there, and moved to the front it would change the beginning of the
 * prompt, so that no engine could reuse what it has computed.
 */
export function readTurns(messages: unknown): { system: Block[]; turns: Turn[] } {
  const system: Block[] = [];
  const turns: Turn[] = [];
  for (const [i, value] of listAt(messages, "messages").entries()) {
    const { role, content } = objectAt(value, `messages.${i}`);
    const blocks = blocksOf(content, `messages.${i}.content`);
    if (role === "system" && turns.length === 0) system.push(...blocks);
    else if (role === "user" || role === "system") add(turns, "user", blocks);
    else if (role === "assistant") add(turns, "assistant", blocks);
    else throw wrong(`messages.${i}.role`, 'expected "user" or "assistant".');
  }
  return { system, turns };
}

function add(turns: Turn[], role: Turn["role"], blocks: readonly Block[]): void {
  const last = turns.at(-1);
  if (last?.role === role) last.blocks.push(...blocks);
  else turns.push({ role, blocks: [...blocks] });
}
