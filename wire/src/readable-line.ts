import { plainText } from "@farmgate/shared";

/** What the start of the line tells already, or what no person asks for. */
const ELSEWHERE: ReadonlySet<string> = new Set(["level", "time", "pid", "hostname", "name", "caller", "msg", "err"]);

/** Fields whose text may have several lines: problems of a file, and the last words of a script. */
const LISTS: ReadonlySet<string> = new Set(["reason", "error", "tail"]);

/**
 * A log entry in one line for a terminal: the message, then its fields as `name=value`. Left out is what says
 * nothing: null, an empty text, and a text that the message holds already. Only the stack of an error, a list of problems
 * and the last words of a script get more lines, below and indented: what a caller chose, as a model's name, gets none.
 */
export function readableLine(entry: Readonly<Record<string, unknown>>): string {
  const message = typeof entry["msg"] === "string" ? entry["msg"] : "";
  const words = message === "" ? [] : [message];
  const below: string[] = [];
  for (const [name, value] of Object.entries(entry)) {
    if (ELSEWHERE.has(name) || value === null || value === "") continue;
    const isList = LISTS.has(name) && typeof value === "string" && value.includes("\n");
    const text = isList ? value : fieldText(value);
    if (isList) below.push(text);
    else if (typeof value !== "string" || !message.includes(value)) words.push(`${name}=${text}`);
  }
  const stack = (entry["err"] as { stack?: unknown } | null | undefined)?.stack;
  if (typeof stack === "string") below.push(stack);
  const lines = [words.join(" "), ...below.flatMap((text) => text.split("\n").map((line) => `    ${line}`))];
  return lines.map(plainText).join("\n");
}

function fieldText(value: unknown): string {
  if (Array.isArray(value)) return value.map(fieldText).join(",") || "none";
  if (typeof value !== "string") return JSON.stringify(value) ?? "";
  return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}
