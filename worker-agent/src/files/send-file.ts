import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { type Clock, FarmError } from "@farmgate/shared";
import type { FastifyReply, FastifyRequest } from "fastify";
import { pause } from "../swap/pause.ts";
import { readRange } from "./byte-range.ts";
import type { ByteRate } from "./byte-rate.ts";
import type { Shelf } from "./shelf.ts";

/** Bytes that are read at a time: with larger pieces dozens of takers keep the program from all else for a second. */
const PIECE = 64 * 1_024;

interface Sending {
  shelf: Shelf;
  rate: ByteRate;
  clock: Clock;
  sent: (bytes: number) => void;
  /** Called once when it begins to go; what it returns when it is over, however it ends. */
  taken: () => () => void;
}

/**
 * Answers GET and HEAD for one file: whole, or the one range that was asked for. Its hash is its `etag` as soon as it is
 * known; a range is only given with `if-range` while the file is still that one. Throws `not_found`.
 */
export async function sendFile(request: FastifyRequest, reply: FastifyReply, path: string, sending: Sending) {
  const { shelf } = sending;
  const look = await shelf.look(path);
  const opened = look === null ? null : await shelf.open(path);
  if (look === null || opened === null) throw new FarmError("not_found", `${path} is not here.`);
  const { handle, bytes } = opened;
  const { range: asked, "if-range": only } = request.headers;
  const tag = look.sha256 === null ? null : `"${look.sha256}"`;
  const range = only === undefined || only === tag ? readRange(asked, bytes) : null;
  void reply.header("accept-ranges", "bytes").type("application/octet-stream");
  if (tag !== null) void reply.header("etag", tag);
  if (range === "none") {
    await handle.close();
    void reply.header("content-range", `bytes */${bytes}`);
    return reply.code(416).send();
  }
  const { first, last } = range ?? { first: 0, last: bytes - 1 };
  if (range !== null) void reply.code(206).header("content-range", `bytes ${first}-${last}/${bytes}`);
  void reply.header("content-length", last - first + 1);
  if (request.method === "HEAD" || bytes === 0) {
    await handle.close();
    // fastify would take an empty body's length.
    return reply.send(request.method === "HEAD" ? Readable.from([]) : undefined);
  }
  const left = new AbortController();
  reply.raw.once("close", () => left.abort());
  const pieces = Readable.from(piecesOf(handle, first, last, sending, left.signal), { objectMode: false });
  const over = sending.taken();
  // What was never read from does not end by itself.
  pieces.once("close", () => {
    over();
    void handle.close().catch(() => {});
  });
  return reply.send(pieces);
}

/** Each piece waits for its time before it goes: else who leaves after the first one would never have to. */
async function* piecesOf(
  handle: FileHandle,
  first: number,
  last: number,
  { rate, clock, sent }: Sending,
  left: AbortSignal,
) {
  for (let at = first; at <= last; ) {
    const length = Math.min(rate.piece(PIECE), last + 1 - at);
    const ms = rate.passed(length, clock.now());
    if (ms > 0) await pause(ms, clock, left);
    if (left.aborted) return;
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0) throw new Error("the file was cut while it was sent");
    at += bytesRead;
    sent(bytesRead);
    yield bytesRead === length ? buffer : buffer.subarray(0, bytesRead);
  }
}
