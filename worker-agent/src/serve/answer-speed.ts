/**
 * An answer's speed in tokens per second, read from its end; null when it tells none.
 * 1. llama-server's `predicted_per_second` is taken as it is.
 * 2. Else `completion_tokens` over `streamedMs`, the time from the first piece of a stream to its end (0: no stream).
 * The quotes make sure that no text of the model is read: inside a JSON string they would be escaped.
 */
export function readSpeed(text: string, streamedMs: number): number | null {
  const told = last(text, /"predicted_per_second"\s*:\s*(\d+(?:\.\d+)?)/g);
  if (told !== null && told > 0) return told;
  const tokens = last(text, /"completion_tokens"\s*:\s*(\d+)/g);
  if (tokens === null || tokens < 2 || streamedMs < 1) return null;
  return (tokens / streamedMs) * 1_000;
}

function last(text: string, pattern: RegExp): number | null {
  let value: number | null = null;
  for (const match of text.matchAll(pattern)) value = Number(match[1]);
  return value;
}
