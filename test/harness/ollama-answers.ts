import type { ServerResponse } from "node:http";

/** What such a server reads of a request. */
export interface Asked {
  model?: string;
  prompt?: string;
  messages?: { role?: string }[];
  input?: string | string[];
  /** Seconds; negative: for ever. */
  keep_alive?: number;
  stream?: boolean;
  tools?: { function?: { name?: string } }[];
  think?: boolean | string;
  format?: unknown;
  options?: { num_predict?: number };
}

/** Milliseconds from one piece of a long answer to the next. */
const PIECE_MS = 5;

const TIMES = {
  total_duration: 5_000_000,
  load_duration: 1_000_000,
  prompt_eval_count: 7,
  prompt_eval_duration: 1_000_000,
  eval_duration: 3_000_000,
};

/** `/api/chat` or `/api/generate`, in lines unless the request wants one answer. */
export async function answerNative(response: ServerResponse, form: "chat" | "generate", asked: Asked, model: string) {
  const { pieces, reason } = textFor(asked);
  const thinking = asked.think === undefined || asked.think === false ? [] : ["Hm", ", yes."];
  const calls = toolCallsFor(asked);
  const told = { model, created_at: "2026-11-30T00:00:00.123456789Z" };
  const last = { done: true, done_reason: reason, ...TIMES, eval_count: pieces.length };
  if (asked.stream === false) {
    const words = wordsOf(form, pieces.join(""), thinking.join(""), calls);
    response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
    response.end(JSON.stringify({ ...told, ...words, ...last }));
    return;
  }
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  const lines = [
    ...thinking.map((piece) => wordsOf(form, "", piece, [])),
    ...pieces.map((piece) => wordsOf(form, piece, "", [])),
    ...(calls.length > 0 ? [wordsOf(form, "", "", calls)] : []),
  ];
  for (const words of lines) {
    if (response.destroyed) return;
    response.write(`${JSON.stringify({ ...told, ...words, done: false })}\n`);
    if (lines.length > 10) await new Promise((resolve) => setTimeout(resolve, PIECE_MS));
  }
  response.end(`${JSON.stringify({ ...told, ...wordsOf(form, "", "", []), ...last })}\n`);
}

/** `/v1/chat/completions`. */
export function answerOpenai(response: ServerResponse, { stream }: Asked, model: string): void {
  const base = { id: "chatcmpl-1", created: 0, model };
  if (stream !== true) {
    const choice = { index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" };
    const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...base, object: "chat.completion", choices: [choice], usage }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const deltas = [{ role: "assistant", content: "Hel" }, { content: "lo" }, {}];
  for (const [i, delta] of deltas.entries()) {
    const choice = { index: 0, delta, finish_reason: i === deltas.length - 1 ? "stop" : null };
    response.write(`data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices: [choice] })}\n\n`);
  }
  response.end("data: [DONE]\n\n");
}

function textFor({ options, format, tools, messages }: Asked): { pieces: string[]; reason: string } {
  const count = options?.num_predict ?? 0;
  if (count > 0) return { pieces: Array.from({ length: count }, (_, i) => `${i} `), reason: "length" };
  if (typeof format === "object" && format !== null) return { pieces: ['{"ok"', ":true}"], reason: "stop" };
  return { pieces: tools?.length && messages?.at(-1)?.role === "user" ? [] : ["Hel", "lo"], reason: "stop" };
}

/** The first of the tools is called once by each question. */
function toolCallsFor({ tools, messages }: Asked): object[] {
  const name = tools?.[0]?.function?.name;
  if (name === undefined || messages?.at(-1)?.role !== "user") return [];
  return [{ id: "call_1", function: { index: 0, name, arguments: { city: "Paris" } } }];
}

function wordsOf(form: "chat" | "generate", text: string, thinking: string, calls: object[]): object {
  const thought = thinking === "" ? {} : { thinking };
  if (form === "generate") return { response: text, ...thought };
  const called = calls.length === 0 ? {} : { tool_calls: calls };
  return { message: { role: "assistant", content: text, ...thought, ...called } };
}
