// What the stub says, as bytes that are ready to be written.

const MODEL = "bench";
const CREATED = 1_700_000_000;

function json(value: unknown, status = "200 OK"): Buffer {
  const body = JSON.stringify(value);
  return Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function chunked(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** About 500 bytes: a short chat answer. */
export const shortAnswer = json({
  id: "chatcmpl-bench",
  object: "chat.completion",
  created: CREATED,
  model: MODEL,
  choices: [{ index: 0, message: { role: "assistant", content: "word ".repeat(48).trim() }, finish_reason: "stop" }],
  usage: { prompt_tokens: 40, completion_tokens: 48, total_tokens: 88 },
});

/** One model that counts as loaded: vLLM lists nothing else. */
export const models = json({
  object: "list",
  data: [{ id: MODEL, object: "model", created: CREATED, owned_by: "vllm", root: MODEL, max_model_len: 262_144 }],
});
export const transcript = json({ text: "word word" });
export const health = json({});
export const version = json({ version: "0.11.0" });
export const notFound = json({ error: { message: "not found", type: "NotFoundError", code: 404 } }, "404 Not Found");

export const streamHead = Buffer.from(
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n" +
    "transfer-encoding: chunked\r\n\r\n",
);

const event = {
  id: "chatcmpl-bench",
  object: "chat.completion.chunk",
  created: CREATED,
  model: MODEL,
  choices: [{ index: 0, delta: { content: " word" }, finish_reason: null }],
};
export const streamChunk = Buffer.from(chunked(`data: ${JSON.stringify(event)}\n\n`));
export const streamEnd = Buffer.from(`${chunked("data: [DONE]\n\n")}0\r\n\r\n`);
