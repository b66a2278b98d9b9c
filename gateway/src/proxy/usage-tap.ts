/** Tokens of one answer, as its engine counted them. */
export interface Usage {
  prompt: number | null;
  completion: number | null;
}

/** Usage stands in the last event of a stream, or near the end of a JSON answer. */
const TAIL_BYTES = 2_048;
/** A stream in tiny pieces keeps no more than this many of them; its usage may then be missed. */
const TAIL_PIECES = 64;

/** Keeps references to the last pieces of an answer, and reads its usage once it has ended. Never throws. */
export class UsageTap {
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #total = 0;
  /** Set when the answer is a stream of events. */
  eventStream = false;

  /** What the tap keeps alive. */
  get heldBytes(): number {
    return this.#tailBytes;
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length;
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    const oldest = this.#tail[0];
    if (oldest === undefined || this.#tail.length === 1) return;
    if (this.#tailBytes - oldest.length < TAIL_BYTES && this.#tail.length <= TAIL_PIECES) return;
    this.#tail.shift();
    this.#tailBytes -= oldest.length;
  }

  /** Whether the bytes so far end with a complete event: nothing yet, or a blank line. */
  atEventBoundary(): boolean {
    if (this.#total === 0) return true;
    const end = Buffer.concat(this.#tail.slice(-4)).subarray(-4).toString("latin1");
    return /(?:\n\n|\r\r|\n\r\n)$/.test(end);
  }

  /** Whether the stream ended the way OpenAI's do. */
  sawDone(): boolean {
    return /data: ?\[DONE\]/.test(this.#text());
  }

  usage(): Usage | null {
    return readUsage(this.#text());
  }

  /** What is looked for is ASCII, so that no character has to be decoded. */
  #text(): string {
    const bytes = this.#tail.length === 1 && this.#tail[0] ? this.#tail[0] : Buffer.concat(this.#tail);
    return bytes.toString("latin1", Math.max(0, bytes.length - 2 * TAIL_BYTES));
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
