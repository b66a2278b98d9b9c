import { readFileSync } from "node:fs";

/** The body of a recorded answer of a real llama-server, from `test/fixtures`, out of its HTTP chunks. */
export function recordedBody(name: string): Buffer {
  const bytes = readFileSync(new URL(`../../../test/fixtures/llama-server/${name}.response`, import.meta.url));
  const headEnd = bytes.indexOf("\r\n\r\n") + 4;
  if (!/^transfer-encoding: chunked/im.test(bytes.toString("latin1", 0, headEnd))) return bytes.subarray(headEnd);
  const pieces: Buffer[] = [];
  for (let at = headEnd; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(pieces);
    pieces.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
