const KEEP_BYTES = 65_536;

/** Keeps the last 64 KB of an answer by reference, beside the byte path: nothing is copied or read while it flows. */
export class UsageTail {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    for (let oldest = this.#chunks[0]; oldest !== undefined; oldest = this.#chunks[0]) {
      if (this.#length - oldest.length < KEEP_BYTES) return;
      this.#chunks.shift();
      this.#length -= oldest.length;
    }
  }

  /** True when an event, or a line that belongs to none, is not left open at the end. */
  atEventBoundary(): boolean {
    const end = Buffer.concat(this.#chunks.slice(-4)).subarray(-4).toString("latin1");
    return end === "" || end.endsWith("\n\n") || end.endsWith("\r\n\r\n") || end.endsWith("\r\r");
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString("latin1");
  }
}

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
