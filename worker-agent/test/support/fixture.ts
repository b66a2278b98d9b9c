import { readFile } from "node:fs/promises";

/** Folder of recorded engine answers. */
const FIXTURES = new URL("../fixtures/", import.meta.url);

export interface Recorded {
  status: number;
  contentType: string;
  /** Without the chunk framing. */
  body: Buffer;
}

/** A recorded answer: its status line, headers and chunked body, taken apart. */
export async function recorded(name: string): Promise<Recorded> {
  const bytes = await readFile(new URL(name, FIXTURES));
  const split = bytes.indexOf("\r\n\r\n");
  const head = bytes.toString("latin1", 0, split);
  const chunks: Buffer[] = [];
  for (let at = split + 4; at < bytes.length; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const length = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (length === 0) break;
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
  return {
    status: Number(head.split(" ")[1]),
    contentType: /^content-type: *(.+)$/im.exec(head)?.[1]?.trim() ?? "",
    body: Buffer.concat(chunks),
  };
}
