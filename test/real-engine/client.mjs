// The caller's side: plain fetch, a reader for streamed answers, and waiting.

const REQUEST_LIMIT_MS = 60_000;

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Asks again and again until there is an answer that is not undefined; what is thrown counts as "not yet".
 * @template T
 * @param {string} what for the message of the failure
 * @param {() => Promise<T | undefined>} probe
 * @returns {Promise<T>}
 */
export async function waitFor(what, probe, limitMs = 30_000) {
  const end = performance.now() + limitMs;
  let last = "";
  while (performance.now() < end) {
    try {
      const value = await probe();
      if (value !== undefined) return value;
    } catch (error) {
      last = ` (${error instanceof Error ? (error.cause ?? error.message) : error})`;
    }
    await pause(20);
  }
  throw new Error(`waited ${limitMs / 1000} s in vain for ${what}${last}`);
}

/** @param {string} url @returns {Promise<{ status: number, body: any }>} */
export async function get(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(5000) });
  return { status: response.status, body: await response.json() };
}

/** Waits until `url` answers 200. @param {string} url @param {() => boolean} [lost] true: no use to wait on */
export async function waitForHealth(url, lost = () => false) {
  const seen = new Map();
  await waitFor(`200 from ${url}`, async () => {
    if (lost()) return "lost";
    const { status, body } = await get(url);
    const answer = `${status} ${JSON.stringify(body)}`;
    seen.set(answer, (seen.get(answer) ?? 0) + 1);
    return status === 200 ? "ready" : undefined;
  });
  if (lost()) throw new Error(`the process behind ${url} ended`);
  return [...seen.keys()];
}

/**
 * @typedef {object} Answer
 * @property {string} model as the answer names it
 * @property {string} text
 * @property {number} pieces events that carried text
 * @property {string | null} finish
 * @property {number | undefined} tokens
 * @property {boolean} done the stream ended with [DONE]
 * @property {string | null} worker
 * @property {string | null} warmth
 * @property {number} firstMs until the first text
 * @property {number} totalMs
 */

/**
 * Streams one chat. `onPiece` sees the text so far; when it returns false the caller hangs up.
 * @param {string} base @param {object} body @param {(text: string) => boolean | void} [onPiece]
 * @returns {Promise<Answer>}
 */
export async function streamChat(base, body, onPiece = () => {}) {
  const started = performance.now();
  const hangUp = new AbortController();
  const response = await fetch(`${base}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
    signal: AbortSignal.any([hangUp.signal, AbortSignal.timeout(REQUEST_LIMIT_MS)]),
  });
  if (response.status !== 200 || !response.body) throw new Error(`answer ${response.status}: ${await response.text()}`);
  /** @type {Answer} */
  const answer = {
    model: "",
    text: "",
    pieces: 0,
    finish: null,
    tokens: undefined,
    done: false,
    worker: response.headers.get("x-farmgate-worker"),
    warmth: response.headers.get("x-farmgate-warmth"),
    firstMs: 0,
    totalMs: 0,
  };
  try {
    for await (const data of events(response.body)) {
      if (data === "[DONE]") {
        answer.done = true;
        continue;
      }
      const event = JSON.parse(data);
      if (event.error) throw new Error(`the stream broke: ${data}`);
      answer.model ||= event.model;
      answer.tokens ??= event.usage?.completion_tokens;
      answer.finish ??= event.choices[0]?.finish_reason ?? null;
      const piece = event.choices[0]?.delta?.content;
      if (!piece) continue;
      if (answer.pieces === 0) answer.firstMs = performance.now() - started;
      answer.pieces += 1;
      answer.text += piece;
      if (onPiece(answer.text) === false) hangUp.abort();
    }
  } catch (error) {
    if (!hangUp.signal.aborted) throw error;
  }
  answer.totalMs = performance.now() - started;
  return answer;
}

/** The data of each server-sent event; comments are passed over. @param {ReadableStream<Uint8Array>} body */
async function* events(body) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trimStart();
  }
}
