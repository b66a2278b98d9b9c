import { type Api, apiForm, parseJson } from "@farmgate/shared";
import { AnswerTail } from "@farmgate/wire";

/** Tokens of one answer, as its engine counted them. */
export interface Usage {
  prompt: number | null;
  completion: number | null;
}

/** Reads the usage of an answer from its tail once it has ended. Never throws. */
export class UsageTap extends AnswerTail {
  /** Set when the answer is a stream, of events or of lines. */
  streamed = false;
  /** Set when the answer is compressed: what it says stays unknown. */
  packed = false;
  /** Of the answer. */
  #bytes = 0;

  override add(piece: Buffer): void {
    this.#bytes += piece.length;
    super.add(piece);
  }

  /** Events of a stream, or its lines, by how many there are in its tail; null: what it says stays unknown. */
  events(): number | null {
    const text = this.text();
    if (this.packed || text === "") return null;
    const events = text.match(/(?:^|[\n\r])(?:data: ?)?\{/g)?.length ?? 0;
    return Math.round((events * this.#bytes) / text.length);
  }

  /** Whether the stream came to the mark with which the API ends its streams, or may have: not each one has a mark. */
  sawEnd(api: Api): boolean {
    return this.packed || (endMark(api)?.(this.text()) ?? true);
  }

  usage(): Usage | null {
    if (this.packed) return null;
    const text = this.text();
    return readUsage(text) ?? readOllamaCounts(text);
  }
}

const RESPONSES_END = /(?:^|[\n\r])(?:event: ?|data: ?\{"type": ?")response\.(?:completed|incomplete|failed)/;

function endMark(api: Api): ((text: string) => boolean) | null {
  if (apiForm(api).streams === "lines") return endsOllama;
  if (api === "chat" || api === "completions") return (text) => /data: ?\[DONE\]/.test(text);
  if (api === "messages") return (text) => /(?:^|[\n\r])event: ?message_stop/.test(text);
  return api === "responses" ? endsResponses : null;
}

/** The last event repeats the whole answer: where its start was too long ago to be kept, its own end has to do. */
function endsResponses(text: string): boolean {
  if (RESPONSES_END.test(text)) return true;
  return !/(?:^|[\n\r])(?:event|data):/.test(text) && /\}(?:\n\n|\r\r|\r\n\r\n)$/.test(text);
}

/** No byte fits two parts of it: what a worker made up to do harm is gone over once. */
const TIMES_AT_END = /^"total_duration": ?\d[^{}",]*(?:,\s*"\w+": ?\d[^{}",]*)*\}$/;

/** Ollama's last line; where it is too long to be kept whole (its `context`), by the times at its end. */
function endsOllama(text: string): boolean {
  const line = lastLine(text);
  const last = parseJson(line);
  if (typeof last === "object" && last !== null) return "done" in last && last.done === true;
  return TIMES_AT_END.test(line.slice(Math.max(0, line.lastIndexOf('"total_duration"'))));
}

/** Counts that Ollama tells at the end of its last line, or of its whole answer; none of them is no answer of its. */
function readOllamaCounts(text: string): Usage | null {
  const line = lastLine(text);
  const last = (name: string) => {
    const found = new RegExp(`(?<!\\\\)"${name}": ?(\\d+)[,}]`).exec(line);
    return found === null ? null : Number(found[1]);
  };
  const usage = { prompt: last("prompt_eval_count"), completion: last("eval_count") };
  return usage.prompt === null && usage.completion === null ? null : usage;
}

function lastLine(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.slice(trimmed.lastIndexOf("\n") + 1);
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
