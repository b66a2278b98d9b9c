import { AnswerTail } from "@farmgate/wire";

/** Tokens of one answer, as its engine counted them. */
export interface Usage {
  prompt: number | null;
  completion: number | null;
}

/** Reads the usage of an answer from its tail once it has ended. Never throws. */
export class UsageTap extends AnswerTail {
  /** Set when the answer is a stream of events. */
  eventStream = false;
  /** Set when the answer is compressed: what it says stays unknown. */
  packed = false;

  /** Whether the stream ended the way OpenAI's do, or may have. */
  sawDone(): boolean {
    return this.packed || /data: ?\[DONE\]/.test(this.text());
  }

  usage(): Usage | null {
    return this.packed ? null : readUsage(this.text());
  }
}

/** The last `"usage": {...}` of a text that is cut off somewhere at its start. */
function readUsage(text: string): Usage | null {
  for (let at = text.lastIndexOf('"usage"'); at >= 0; at = at === 0 ? -1 : text.lastIndexOf('"usage"', at - 1)) {
    const object = objectAfter(text, at + '"usage"'.length);
    if (object === null) continue;
    const usage = {
      prompt: count(object["prompt_tokens"] ?? object["input_tokens"]),
      completion: count(object["completion_tokens"] ?? object["output_tokens"]),
    };
    if (usage.prompt !== null || usage.completion !== null) return usage;
  }
  return null;
}

/** The JSON object behind `: `, found by counting braces (usage holds numbers and objects of numbers only). */
function objectAfter(text: string, from: number): Record<string, unknown> | null {
  const start = /^\s*:\s*(?=\{)/.exec(text.slice(from, from + 20));
  if (start === null) return null;
  let depth = 0;
  const first = from + start[0].length;
  for (let i = first; i < text.length; i += 1) {
    if (text[i] === "{") depth += 1;
    else if (text[i] === "}") depth -= 1;
    if (depth > 0) continue;
    try {
      return JSON.parse(text.slice(first, i + 1)) as Record<string, unknown>;
    } catch {
      return null;
    }
  }
  return null;
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}
