import type { Api } from "@farmgate/shared";
import { TranslatedAnswer } from "../../../src/translate/translated-answer.ts";
import type { JsonObject, Translated, TranslationContext } from "../../../src/translate/translation.ts";
import { translatorTo } from "../../../src/translate/ways.ts";

const CONTEXT: TranslationContext = { model: "worker/m", engine: "llama-server", requestId: "r1", wallMs: 0 };

/** One line of Ollama's, or its whole answer. */
export interface Line {
  model?: string;
  created_at?: string;
  done?: boolean;
  done_reason?: string;
  error?: string;
  response?: string;
  thinking?: string;
  logprobs?: { token: string; logprob: number; bytes?: number[]; top_logprobs?: object[] }[];
  message?: { role: string; content: string; thinking?: string; tool_calls?: ToolCall[] };
  total_duration?: number;
  load_duration?: number;
  prompt_eval_count?: number;
  prompt_eval_duration?: number;
  eval_count?: number;
  eval_duration?: number;
}

export interface ToolCall {
  id?: string;
  function: { index: number; name: string; arguments: object };
}

/** A request, put as another API. */
export function put(from: Api, to: Api, body: JsonObject, context: Partial<TranslationContext> = {}): Translated {
  const translator = translatorTo(from, to);
  if (translator === null) throw new Error(`nothing puts ${from} as ${to}`);
  return translator({ model: "m", ...body }, { ...CONTEXT, ...context });
}

const EVENTS = ["Content-Type", "text/event-stream"];

/** What the caller of a stream gets of these pieces, and what is wrong with them; each piece comes 10 ms after the last. */
export function streamed(translated: Translated, pieces: readonly Buffer[], rawHeaders: readonly string[] = EVENTS) {
  const answer = new TranslatedAnswer(translated, "lines", rawHeaders);
  const at = (n: number) => ({ wallMs: 1_000 + 10 * n, sinceSentMs: 10 * n });
  let text = "";
  for (const [i, piece] of pieces.entries()) text += answer.push(piece, at(i + 1));
  text += answer.end(at(pieces.length + 1));
  return { lines: readLines(text), text, problem: answer.problem };
}

/** Lines as the `ollama` package reads them. */
export function readLines(text: string): Line[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

/** What that package hands on of a stream; it throws where the package would. */
export function asTheSdkReads(lines: readonly Line[]): Line[] {
  const read: Line[] = [];
  for (const line of lines) {
    if ("error" in line) throw new Error(line.error);
    read.push(line);
    if (line.done === true) return read;
  }
  throw new Error("Did not receive done or success response in stream.");
}

/** Cuts at these places (shares of the length). */
export function cut(text: string | Buffer, places: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const at = [0, ...places.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
}

/** One event of `/v1/chat/completions`. */
export function chunk(delta: object, finish: string | null = null, more: object = {}): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
}

export const DONE = "data: [DONE]\n\n";
