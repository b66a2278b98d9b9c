import { readFileSync } from "node:fs";

/** The body of a recorded answer of a real llama-server, without HTTP's chunk framing, as far as it came. */
export function recordedBody(name: string): string {
  const path = `../../../test/fixtures/llama-server/${name}.response`;
  const bytes = readFileSync(new URL(path, import.meta.url));
  const pieces: Buffer[] = [];
  let at = bytes.indexOf("\r\n\r\n") + 4;
  for (;;) {
    const end = bytes.indexOf("\r\n", at);
    const size = end < 0 ? 0 : Number.parseInt(bytes.subarray(at, end).toString(), 16);
    if (!(size > 0)) return Buffer.concat(pieces).toString();
    pieces.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
