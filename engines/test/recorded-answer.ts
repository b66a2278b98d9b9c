import { readFileSync } from "node:fs";

export interface RecordedAnswer {
  status: number;
  server: string;
  body: string;
}

/** A recorded answer of a real llama-server, from `test/fixtures`. */
export function recordedAnswer(name: string): RecordedAnswer {
  const bytes = readFileSync(new URL(`../../test/fixtures/llama-server/${name}.response`, import.meta.url), "utf8");
  const end = bytes.indexOf("\r\n\r\n");
  const head = bytes.slice(0, end);
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]),
    server: /^Server: (.*)$/m.exec(head)?.[1]?.trim() ?? "",
    body: bytes.slice(end + 4),
  };
}

/** Its body as JSON. */
export function recordedJson(name: string): unknown {
  return JSON.parse(recordedAnswer(name).body);
}
