/** What an answer tells of its engine's speed, in tokens per second; null where it tells nothing. */
export interface AnswerFigures {
  promptTokensPerSecond: number | null;
  tokensPerSecond: number | null;
}

/** What the agent saw of an answer, in milliseconds. */
export interface AnswerTiming {
  /** From the grant to the first piece of the answer; null: none came. */
  firstPieceMs: number | null;
  /** From the first piece of a stream to its end; 0: no stream. */
  streamedMs: number;
}

/** A rate needs this many tokens: fewer tell more of the overhead than of the engine. */
const LEAST = { prompt: 32, output: 2 };

/**
 * An answer's figures, read from its end (`AnswerTail`). The engine's own timings come before what was seen here:
 *
 * 1. llama-server's `timings`;
 * 2. Ollama's durations, in nanoseconds;
 * 3. LM Studio's `stats`, with the time to the first token in seconds;
 * 4. else `usage` over what was seen: the tokens of the prompt that were not cached over the time to the first piece,
 *    those of the answer over the time of the stream. Without a stream the first piece comes with the last one, so that
 *    it tells of the prompt only where nothing was written (embeddings).
 *
 * No text of the model is read. Inside a JSON string its quotes are escaped; where it may write a JSON object (the
 * arguments of a tool in some APIs) the figures of the engine come after it, so that the last ones count.
 */
export function readAnswerFigures(tail: string, timing: AnswerTiming): AnswerFigures {
  const group = lastGroup(tail);
  if (group === null) return { promptTokensPerSecond: null, tokensPerSecond: null };
  const of = (name: string) => figure(group.text, name);
  switch (group.name) {
    case "timings": // (1)
      return {
        promptTokensPerSecond: enough(of("prompt_n"), LEAST.prompt) ? positive(of("prompt_per_second")) : null,
        tokensPerSecond:
          (of("predicted_n") ?? LEAST.output) < LEAST.output ? null : positive(of("predicted_per_second")),
      };
    case "durations": // (2)
      return {
        promptTokensPerSecond: rate(of("prompt_eval_count"), LEAST.prompt, (of("prompt_eval_duration") ?? 0) / 1e6),
        tokensPerSecond: rate(of("eval_count"), LEAST.output, (of("eval_duration") ?? 0) / 1e6),
      };
    case "stats": // (3)
      return {
        promptTokensPerSecond: rate(readTokens(tail), LEAST.prompt, (of("time_to_first_token") ?? 0) * 1_000),
        tokensPerSecond: positive(of("tokens_per_second")),
      };
    case "usage": {
      const written = of("completion_tokens") ?? of("output_tokens");
      const promptSeen = timing.streamedMs > 0 || (written ?? 0) === 0;
      return {
        promptTokensPerSecond: promptSeen ? rate(readTokens(tail), LEAST.prompt, timing.firstPieceMs ?? 0) : null,
        tokensPerSecond: rate(written, LEAST.output, timing.streamedMs),
      }; // (4)
    }
  }
}

type GroupName = "timings" | "durations" | "stats" | "usage";

/** The last group of figures, up to the end of the text. */
function lastGroup(text: string): { name: GroupName; text: string } | null {
  let found: RegExpExecArray | null = null;
  for (const match of text.matchAll(/"(?:(timings|stats|usage)"\s*:\s*\{|(?:prompt_)?eval_count"\s*:)/g)) {
    // Ollama's figures for the prompt and for the answer are one group.
    if (found === null || match[1] !== undefined || found[1] !== undefined) found = match;
  }
  if (found === null) return null;
  return { name: (found[1] ?? "durations") as GroupName, text: text.slice(found.index) };
}

/** Tokens of the prompt that had to be read, by the last `usage`. */
function readTokens(tail: string): number | null {
  const usage = tail.slice(Math.max(0, tail.lastIndexOf('"usage"')));
  const all = figure(usage, "prompt_tokens") ?? figure(usage, "input_tokens");
  return all === null ? null : all - (figure(usage, "cached_tokens") ?? 0);
}

/** The last value under this name. */
function figure(text: string, name: string): number | null {
  let value: number | null = null;
  for (const match of text.matchAll(new RegExp(`"${name}"\\s*:\\s*(\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)`, "g"))) {
    value = Number(match[1]);
  }
  return value;
}

function rate(tokens: number | null, least: number, ms: number): number | null {
  return enough(tokens, least) && ms >= 1 ? positive((tokens / ms) * 1_000) : null;
}

function enough(tokens: number | null, least: number): tokens is number {
  return tokens !== null && tokens >= least;
}

function positive(value: number | null): number | null {
  return value !== null && value > 0 && Number.isFinite(value) ? value : null;
}
