import type { ApiFamily } from "./error-envelope.ts";

/** How one API is spoken over HTTP. */
interface ApiForm {
  path: string;
  family: ApiFamily;
  /** form: `multipart/form-data`; none: a WebSocket, whose model stands in the query. */
  body: "json" | "form" | "none";
  /** What a streamed answer is made of: server-sent events or lines of JSON; null: it has none. */
  streams: "events" | "lines" | null;
  /** Whether a request that does not say gets a stream. */
  streamsByDefault?: true;
  /** Workers alone are asked so: it is no path of the gateway's. */
  workersOnly?: true;
}

const FORMS = {
  chat: openai("/v1/chat/completions", "events"),
  completions: openai("/v1/completions", "events"),
  responses: openai("/v1/responses", "events"),
  embeddings: openai("/v1/embeddings", null),
  rerank: openai("/v1/rerank", null),
  /** As Text Embeddings Inference has it. */
  "tei-rerank": { ...openai("/rerank", null), workersOnly: true },
  /** `stream` means sound in pieces there; events are asked for by another field, and few servers have them. */
  speech: openai("/v1/audio/speech", null),
  transcriptions: openai("/v1/audio/transcriptions", "events", "form"),
  translations: openai("/v1/audio/translations", null, "form"),
  "image-generations": openai("/v1/images/generations", "events"),
  "image-edits": openai("/v1/images/edits", "events", "form"),
  "image-variations": openai("/v1/images/variations", null, "form"),
  messages: { path: "/v1/messages", family: "anthropic", body: "json", streams: "events" },
  "count-tokens": { path: "/v1/messages/count_tokens", family: "anthropic", body: "json", streams: null },
  realtime: { path: "/v1/realtime", family: "openai", body: "none", streams: null },
  // llama.cpp's own; its errors have OpenAI's shape.
  completion: openai("/completion", "events"),
  infill: openai("/infill", "events"),
  tokenize: openai("/tokenize", null),
  detokenize: openai("/detokenize", null),
  "apply-template": openai("/apply-template", null),
  /** whisper.cpp's own path for what is `transcriptions` elsewhere: the same form, the same answers. */
  inference: { ...openai("/inference", null, "form"), workersOnly: true },
  "ollama-chat": ollama("/api/chat", true),
  "ollama-generate": ollama("/api/generate", true),
  "ollama-embed": ollama("/api/embed", false),
  /** Ollama's older one, with one `prompt`. */
  "ollama-embeddings": ollama("/api/embeddings", false),
} satisfies Record<string, ApiForm>;

/**
 * What a caller asks for and what a worker is asked, by the wire format: the same question put as `chat` and as
 * `messages` is two APIs.
 */
export type Api = keyof typeof FORMS;

/** All of them, in a fixed order. */
export const API_NAMES = Object.keys(FORMS) as readonly Api[];

const BY_NAME: ReadonlyMap<string, ApiForm> = new Map(Object.entries(FORMS));
const BY_PATH: ReadonlyMap<string, Api> = new Map(
  API_NAMES.filter((api) => apiForm(api).workersOnly !== true).map((api) => [FORMS[api].path, api]),
);

/** The API of an inference path (without query), or null for every other path. */
export function inferenceApi(path: string): Api | null {
  return BY_PATH.get(path) ?? null;
}

export function isApi(name: string): name is Api {
  return BY_NAME.has(name);
}

export function apiForm(api: Api): ApiForm {
  return FORMS[api];
}

/** Whether a streamed answer is one of server-sent events: Ollama's own are lines of JSON, and some APIs have none. */
export function streamsEvents(api: Api): boolean {
  return FORMS[api].streams === "events";
}

/** Whether a request is answered by a stream; `stream` is what it says (null: nothing). */
export function isStreamed(api: Api, stream: boolean | null): boolean {
  const form: ApiForm = FORMS[api];
  return form.streams !== null && (stream ?? form.streamsByDefault === true);
}

/**
 * Whose shapes a path's callers expect. The list of models has one path in two APIs: Anthropic's callers are known by the
 * header that they always send.
 */
export function apiFamily(path: string, headers: Readonly<Record<string, unknown>> = {}): ApiFamily {
  if (path.startsWith("/api/")) return "ollama";
  if (path === "/v1/messages" || path.startsWith("/v1/messages/")) return "anthropic";
  const isList = path === "/v1/models" || path.startsWith("/v1/models/");
  return isList && headers["anthropic-version"] !== undefined ? "anthropic" : "openai";
}

function openai(path: string, streams: "events" | null, body: ApiForm["body"] = "json"): ApiForm {
  return { path, family: "openai", body, streams };
}

function ollama(path: string, streams: boolean): ApiForm {
  const form: ApiForm = { path, family: "ollama", body: "json", streams: streams ? "lines" : null };
  return streams ? { ...form, streamsByDefault: true } : form;
}
