import { formatPath } from "@farmgate/shared";
import { type EngineOptions, engineOptionsSchema } from "./options.ts";

/** The flags of `farmgate engine`, as a command line gives them: texts, or lists of texts where a flag can repeat. */
export interface EngineFlags {
  name?: string;
  host?: string;
  port?: string;
  /** Chat models, with commas. */
  models?: string;
  load?: string;
  maxLoaded?: string;
  /** False with `--no-autoload`. */
  autoload?: boolean;
  single?: boolean;
  slots?: string;
  promptSpeed?: string;
  tokensPerSecond?: string;
  context?: string;
  /** Models that are loaded at start, with commas. */
  loaded?: string;
  embedding?: string;
  rerank?: string;
  /** Models that speak and listen, and models that draw, with commas. */
  audio?: string;
  image?: string;
  /** The APIs that it speaks, with commas; unset: all. */
  apis?: string;
  apiKey?: string;
  fail?: readonly string[];
}

export type FlagsOutcome = { ok: true; options: EngineOptions } | { ok: false; problems: string[] };

const FLAG_OF: Readonly<Record<string, string>> = {
  "listen.host": "--host",
  "listen.port": "--port",
  promptTokensPerSecond: "--prompt-speed",
  tokensPerSecond: "--tokens-per-second",
  maxLoaded: "--max-loaded",
  apiKey: "--api-key",
};

/** What `farmgate engine` runs without `--models`. */
const DEFAULT_MODELS = "demo-chat,demo-code";

/** Turns flags into options; every problem names its flag. */
export function engineOptionsFromFlags(flags: EngineFlags): FlagsOutcome {
  const loaded = names(flags.loaded);
  const embedding = names(flags.embedding);
  const rerank = names(flags.rerank);
  const audio = names(flags.audio);
  const image = names(flags.image);
  const others = embedding.length + rerank.length + audio.length + image.length;
  const chat = names(flags.models ?? (others === 0 ? DEFAULT_MODELS : ""));
  const model = (kind: string) => (name: string) => ({
    name,
    kind,
    loaded: loaded.includes(name),
    ...given({ contextLength: flags.context }),
  });
  const models = [
    ...chat.map(model("chat")),
    ...embedding.map(model("embedding")),
    ...rerank.map(model("rerank")),
    ...audio.map(model("audio")),
    ...image.map(model("image")),
  ];
  const unknown = loaded.filter((name) => !models.some((entry) => entry.name === name));
  const result = engineOptionsSchema.safeParse({
    models,
    listen: given({ host: flags.host, port: flags.port }),
    ...given({
      name: flags.name,
      load: flags.load,
      maxLoaded: flags.maxLoaded,
      autoload: flags.autoload,
      single: flags.single,
      slots: flags.slots,
      promptTokensPerSecond: flags.promptSpeed,
      tokensPerSecond: flags.tokensPerSecond,
      apis: flags.apis === undefined ? undefined : names(flags.apis),
      apiKey: flags.apiKey,
      fail: flags.fail,
    }),
  });
  const problems = unknown.map((name) => `--loaded: "${name}" is not one of the models`);
  if (result.success && problems.length === 0) return { ok: true, options: result.data };
  for (const issue of result.error?.issues ?? []) {
    const path = formatPath(issue.path);
    const flag = FLAG_OF[path] ?? (path.endsWith(".contextLength") ? "--context" : `--${String(issue.path[0])}`);
    const problem = `${flag}: ${issue.message}`;
    if (!problems.includes(problem)) problems.push(problem);
  }
  return { ok: false, problems };
}

function names(list: string | undefined): string[] {
  return (list ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** Without the members that are not given, so that defaults hold. */
function given(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
