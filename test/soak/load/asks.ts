// What the soak's callers ask: one request after the other, by chance from a seed. Pure.
import type { Random } from "@farmgate/shared";
import { textOf, vectorOf } from "./expected.ts";

/** How an answer is written: by API, and as a stream or as a whole. */
export type Form =
  | "chat-stream"
  | "chat-whole"
  | "embeddings"
  | "anthropic-stream"
  | "ollama-stream"
  | "flood-stream"
  | "realtime";

/** One request and the only answer that is right. */
export interface Ask {
  /** As the tally names it. */
  kind: string;
  form: Form;
  path: string;
  body: Record<string, unknown>;
  /** The text, or the vector as JSON. */
  expected: string;
  /** The caller leaves so long after its request; null: it stays. */
  leaveAfterMs: number | null;
  readsSlowly: boolean;
}

/** Shares of a hundred. */
const KINDS: readonly (readonly [kind: string, share: number])[] = [
  ["stream", 60],
  ["whole", 10],
  ["embeddings", 8],
  ["anthropic", 8],
  ["ollama", 8],
  ["large body", 3],
  ["flood", 1],
  ["realtime", 2],
];
/** Of the texts. `lone` and `chat` are also at the worker that misbehaves; a and b take turns on one machine. */
const MODELS: readonly (readonly [model: string, share: number])[] = [
  ["chat", 78],
  ["lone", 8],
  ["swap-a", 4],
  ["swap-b", 4],
  ["extra", 6],
];
const SHORTEST = 20;
const LONGEST = 80;
/** Those that share a machine answer shortly, so that swaps come often. */
const SWAPPED_LONGEST = 30;
const LEAVE_SHARE = 0.05;
const SLOW_SHARE = 0.03;
const LONGEST_STAY_MS = 8_000;
const LARGE = "Some words of a long document. ".repeat(34_000);

/** `nonce` sets this request apart from all others. */
export function nextAsk(random: Random, nonce: string): Ask {
  const kind = pick(KINDS, random);
  const model = pick(MODELS, random);
  const isSwapped = model.startsWith("swap-");
  const length = SHORTEST + Math.floor(random() * ((isSwapped ? SWAPPED_LONGEST : LONGEST) - SHORTEST));
  const leaveAfterMs = random() < LEAVE_SHARE ? Math.floor(random() * LONGEST_STAY_MS) : null;
  const readsSlowly = kind === "flood" || random() < SLOW_SHARE;
  return { kind, leaveAfterMs, readsSlowly, ...askOf(kind, model, nonce, length) };
}

function askOf(kind: string, model: string, nonce: string, length: number) {
  const prompt = `${nonce}: tell me about ${model}.`;
  const messages = [{ role: "user", content: prompt }];
  const chat = { path: "/v1/chat/completions", body: { model, messages, max_tokens: length } };
  const expected = textOf(model, prompt, length);
  const stream = { stream: true };
  switch (kind) {
    case "whole":
      return { ...chat, form: "chat-whole" as const, expected };
    case "embeddings": {
      const body = { model: "embed", input: prompt, dimensions: 8 };
      return { form: "embeddings" as const, path: "/v1/embeddings", body, expected: vectorOf("embed", prompt) };
    }
    case "anthropic":
      return {
        ...chat,
        form: "anthropic-stream" as const,
        path: "/v1/messages",
        body: { ...chat.body, ...stream },
        expected,
      };
    case "ollama": {
      const body = { model, messages, options: { num_predict: length } };
      return { form: "ollama-stream" as const, path: "/api/chat", body, expected };
    }
    case "large body": {
      const long = `${prompt} ${LARGE}`;
      const body = { model: "chat", messages: [{ role: "user", content: long }], max_tokens: length, ...stream };
      return { ...chat, form: "chat-stream" as const, body, expected: textOf("chat", long, length) };
    }
    case "flood":
      return {
        ...chat,
        form: "flood-stream" as const,
        body: { ...chat.body, model: "flood", ...stream },
        expected: nonce,
      };
    case "realtime":
      return { form: "realtime" as const, path: "/v1/realtime?model=voice", body: {}, expected: nonce };
    default:
      return { ...chat, form: "chat-stream" as const, body: { ...chat.body, ...stream }, expected };
  }
}

function pick(choices: readonly (readonly [string, number])[], random: Random): string {
  let left = random() * choices.reduce((sum, [, share]) => sum + share, 0);
  for (const [choice, share] of choices) {
    left -= share;
    if (left < 0) return choice;
  }
  return choices[0]?.[0] ?? "";
}
