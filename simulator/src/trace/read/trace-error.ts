import { plainText } from "@farmgate/shared";

/** What is wrong with a trace, in words; `line`: counted from 1. */
export class TraceError extends Error {
  override readonly name = "TraceError";

  constructor(line: number | null, problem: string) {
    super(line === null ? problem : `line ${line}: ${problem}`);
  }
}

/** What a file says, as it is shown in a message. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  return plainText(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
