import { type Agent, type ClientRequest, type IncomingMessage, request } from "node:http";

export interface Answer {
  status: number;
  headers: IncomingMessage["headers"];
  body: string;
  /** The body's own bytes. */
  bytes: Buffer;
  /** Milliseconds on performance.now(). */
  sentAt: number;
  firstByteAt: number;
  endedAt: number;
  /** The body was read to the end that HTTP has for it, not to a broken connection. */
  complete: boolean;
}

export interface Asked {
  answer: Promise<Answer>;
  /** Resolves at the first piece of the body. */
  firstByte: Promise<void>;
  /** The body so far, and the head, once it is there. */
  received: () => Buffer;
  head: () => IncomingMessage | null;
  /** Leaves: closes the connection now. */
  leave: () => void;
}

/**
 * One POST, on a connection of its own unless an agent keeps some. A connection that breaks before the status line is
 * status 0.
 */
export function ask(
  url: string,
  body: object | string,
  headers: Record<string, string> = {},
  agent: Agent | false = false,
): Asked {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const sentAt = performance.now();
  let left = false;
  let outgoing: ClientRequest | null = null;
  let incoming: IncomingMessage | null = null;
  const pieces: Buffer[] = [];
  let started = () => {};
  const firstByte = new Promise<void>((resolve) => {
    started = resolve;
  });
  const answer = new Promise<Answer>((resolve) => {
    const broken = {
      status: 0,
      headers: {},
      body: "",
      bytes: Buffer.alloc(0),
      sentAt,
      firstByteAt: Number.NaN,
      complete: false,
    };
    outgoing = request(url, {
      method: "POST",
      agent,
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(text), ...headers },
    });
    outgoing.on("error", () => resolve({ ...broken, endedAt: performance.now() }));
    outgoing.on("response", (response) => {
      let firstByteAt = Number.NaN;
      let complete = false;
      incoming = response;
      response.on("data", (piece: Buffer) => {
        if (pieces.length === 0) firstByteAt = performance.now();
        pieces.push(piece);
        started();
      });
      // Not `response.complete`: that is true while the end of the body still waits to be read, and whoever leaves then
      // gets an "end" without it.
      response.on("end", () => {
        complete = !left;
      });
      response.on("error", () => {});
      response.on("close", () => {
        const bytes = Buffer.concat(pieces);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: bytes.toString("utf8"),
          bytes,
          sentAt,
          firstByteAt,
          endedAt: performance.now(),
          complete,
        });
      });
    });
    outgoing.end(text);
  });
  return {
    answer,
    firstByte,
    received: () => Buffer.concat(pieces),
    head: () => incoming,
    leave: () => {
      left = true;
      outgoing?.destroy();
    },
  };
}

export function askChat(url: string, model: string, extra: Record<string, unknown> = {}) {
  const messages = [{ role: "user", content: `Tell me about ${model}.` }];
  return ask(`${url}/v1/chat/completions`, { model, messages, stream: true, max_tokens: 20, ...extra });
}

export async function getJson<T>(url: string, key: string = "none"): Promise<T> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  return (await answer.json()) as T;
}
