import type { Hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { type Clock, headerValue } from "@farmgate/shared";
import { Exchange, type Upstream } from "@farmgate/wire";
import { readContentRange } from "./byte-range.ts";
import type { ByteRate } from "./byte-rate.ts";

/** A peer that says nothing for so long is given up, in milliseconds. */
const SILENT_MS = 30_000;
/** So is one that sent less than this in so long: it would hold up what others could send for ever. */
const SLOW_BYTES = 16 * 1_024;
const SLOW_MS = 60_000;

/** A file on its way here. */
export interface Partial {
  handle: FileHandle;
  /** Bytes that are here, and their hash. */
  at: number;
  hash: Hash;
}

export interface DownloadOptions {
  upstream: Upstream;
  apiKey: string | null;
  /** Below the peer's folder of models. */
  path: string;
  bytes: number;
  sha256: string;
  rate: ByteRate;
  clock: Clock;
  signal: AbortSignal;
  received: (bytes: number) => void;
}

/**
 * Asks a peer once for the rest of a file and writes it behind what is here, as far as it comes. Why the rest did not
 * come; null: it did. Never rejects.
 */
export function download(partial: Partial, options: DownloadOptions): Promise<string | null> {
  const { upstream, apiKey, path, bytes, sha256, rate, clock, signal, received } = options;
  const headers = ["range", `bytes=${partial.at}-`, "if-range", `"${sha256}"`, "accept-encoding", "identity"];
  if (apiKey !== null) headers.push("authorization", `Bearer ${apiKey}`);
  const target = `${upstream.prefix}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
  const request = { origin: upstream.origin, method: "GET", path: target, headers, body: null };
  return new Promise((resolve) => {
    let trouble: string | null = null;
    /** Since the peer's speed was last looked at: what it sent, and how long that was waited for. */
    let slow = { bytes: 0, waitedMs: 0 };
    let waitsSince = clock.now();
    let stopPause = () => {};
    /** One write at a time, in order. */
    let writing: Promise<void> = Promise.resolve();
    const stop = (why: string) => {
      trouble ??= why;
      exchange.cancel();
    };
    const onAbort = () => stop("it was ended");
    const write = async (piece: Buffer) => {
      if (trouble !== null) return;
      if (partial.at + piece.length > bytes) return stop("more came than was told");
      await writeAll(partial.handle, piece, partial.at);
      partial.hash.update(piece);
      partial.at += piece.length;
      received(piece.length);
      const ms = rate.passed(piece.length, clock.now());
      if (ms > 0) stopPause = clock.after(ms, goOn);
      else goOn();
    };
    const goOn = () => {
      waitsSince = clock.now();
      exchange.resume();
    };
    const isTooSlow = (sent: number) => {
      slow = { bytes: slow.bytes + sent, waitedMs: slow.waitedMs + clock.now() - waitsSince };
      if (slow.waitedMs < SLOW_MS) return false;
      if (slow.bytes < SLOW_BYTES) return true;
      slow = { bytes: 0, waitedMs: 0 };
      return false;
    };
    const exchange = new Exchange(upstream.pool, request, { firstByteMs: SILENT_MS, idleMs: SILENT_MS }, clock, {
      head(status, rawHeaders) {
        const range = readContentRange(headerValue(rawHeaders, "content-range"));
        if (status === 200) stop("the file there is another one now");
        else if (status !== 206) stop(`it answered ${status}`);
        else if (range?.first !== partial.at || range.bytes !== bytes) stop("it sent another piece than was asked for");
      },
      data(piece) {
        if (isTooSlow(piece.length)) stop("it sends too slowly");
        writing = writing.then(() => write(piece)).catch((error: unknown) => stop(`writing failed: ${String(error)}`));
        return false;
      },
      end(outcome) {
        signal.removeEventListener("abort", onAbort);
        stopPause();
        const cut = outcome.ok ? null : outcome.failure.message;
        void writing.then(() => resolve(trouble ?? cut ?? (partial.at < bytes ? "it ended early" : null)));
      },
    });
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

/** A write may take less than it was given, as on a disk that is almost full; what is hashed must be what is there. */
async function writeAll(handle: Pick<FileHandle, "write">, piece: Buffer, at: number): Promise<void> {
  for (let done = 0; done < piece.length; ) {
    const { bytesWritten } = await handle.write(piece, done, piece.length - done, at + done);
    if (bytesWritten === 0) throw new Error("nothing more could be written");
    done += bytesWritten;
  }
}
