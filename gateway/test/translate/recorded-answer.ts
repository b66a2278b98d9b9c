import { readFileSync } from "node:fs";

/** The body of a recorded answer of a real llama-server (`test/fixtures`), without the framing of its chunks. */
export function recordedBody(name: string): { rawHeaders: string[]; body: Buffer } {
  const bytes = readFileSync(new URL(`../../../test/fixtures/llama-server/${name}.response`, import.meta.url));
  const end = bytes.indexOf("\r\n\r\n");
  const lines = bytes.toString("latin1", 0, end).split("\r\n").slice(1);
  const rawHeaders = lines.flatMap((line) => {
    const at = line.indexOf(":");
    return [line.slice(0, at), line.slice(at + 1).trim()];
  });
  const body = bytes.subarray(end + 4);
  const chunked = lines.some((line) => /^transfer-encoding: chunked/i.test(line));
  return { rawHeaders, body: chunked ? joinChunks(body) : body };
}

/** One that broke off ends without its last chunk. */
function joinChunks(framed: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < framed.length; ) {
    const lineEnd = framed.indexOf("\r\n", at);
    const size = Number.parseInt(framed.toString("latin1", at, lineEnd), 16);
    if (lineEnd < 0 || Number.isNaN(size) || size === 0) break;
    pieces.push(framed.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(pieces);
}
