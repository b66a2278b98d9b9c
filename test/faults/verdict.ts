import type { Asked } from "./answers.ts";

/** What a caller saw of the answer to one request. */
export interface Seen {
  /** 0: the connection ended before a status line. */
  status: number;
  body: Buffer;
  /** The body ended as HTTP has it. */
  complete: boolean;
  /** The caller itself has gone. */
  left: boolean;
  /** It had no end within the harness's own ceiling. */
  hung: boolean;
}

export type Verdict =
  | { end: "whole" }
  /** `code`: of our envelope; with a star where it stood inside a stream. */
  | { end: "told"; code: string }
  | { end: "left" }
  /** Neither the answer nor an error: why. */
  | { end: "lost"; why: string }
  /** Bytes that no worker sent for this request. */
  | { end: "wrong"; why: string };

/** Why a request is lost whose connection was closed before a status. */
export const CUT_UNSERVED = "cut before a status";

/**
 * What became of a request:
 * `wanted` is the whole answer; `retells`: an engine's own error answer is passed on as it is.
 *
 * 1. The caller left: what it had is a piece of its answer, or an error.
 * 2. No end, or none that HTTP knows: lost.
 * 3. An error status: told, in our envelope, or lost.
 * 4. A good status: 4a. the whole answer; 4b. its beginning and an error event; else 4c. lost or wrong.
 */
export function judge(asked: Asked, seen: Seen, wanted: Buffer, retells: boolean): Verdict {
  const body = asked.streamed ? withoutComments(seen.body) : seen.body;
  if (seen.hung) return { end: "lost", why: "it had no end" };
  if (seen.left) return { end: "left" }; // 1
  if (seen.status === 0) return { end: "lost", why: CUT_UNSERVED }; // 2
  if (seen.status >= 300) {
    const own = retells ? `engine's ${seen.status}` : null;
    const code = seen.complete ? (errorCode(seen.body.toString()) ?? own) : null; // 3
    return code === null ? { end: "lost", why: `status ${seen.status} without our words` } : { end: "told", code };
  }
  if (body.equals(wanted)) return seen.complete ? { end: "whole" } : { end: "lost", why: "cut behind the answer" }; // 4a
  const told = asked.streamed && seen.complete ? streamError(body) : null;
  const begun = told === null ? body : told.before;
  if (!startsWith(wanted, begun)) return { end: "wrong", why: difference(wanted, begun, asked.nonce) }; // 4c
  if (told !== null) return { end: "told", code: `${told.code}*` }; // 4b
  return { end: "lost", why: seen.complete ? "ended early as if it were whole" : "cut without a word" };
}

/** The code of an error body in the API's own form; null: it is none of ours. */
function errorCode(body: string): string | null {
  try {
    const { error } = JSON.parse(body) as { error?: { code?: unknown; message?: unknown } };
    const isOurs = typeof error?.code === "string" && typeof error.message === "string" && error.message !== "";
    return isOurs ? String(error.code) : null;
  } catch {
    return null;
  }
}

/** An error that stands as the last event of a stream, and what came before it. */
function streamError(body: Buffer): { code: string; before: Buffer } | null {
  const at = body.lastIndexOf('data: {"error":');
  if (at < 0) return null;
  const code = errorCode(body.subarray(at + "data: ".length).toString());
  if (code === null || !body.subarray(-2).equals(Buffer.from("\n\n"))) return null;
  const before = body.subarray(0, at);
  // Inside an event a blank line of our own ends that first.
  const isOurGap = before.length > 2 && before.subarray(-2).equals(Buffer.from("\n\n"));
  return { code, before: isOurGap && !isWholeEvent(before) ? before.subarray(0, -2) : before };
}

/** Whether the last of these events is one: JSON, or the end mark. */
function isWholeEvent(events: Buffer): boolean {
  const last = events
    .subarray(events.lastIndexOf("\n\n", -3) + 1)
    .toString()
    .trim();
  if (last === "data: [DONE]") return true;
  try {
    JSON.parse(last.replace(/^data: /, ""));
    return true;
  } catch {
    return false;
  }
}

/** Without the comments that the gateway puts before an answer. */
function withoutComments(body: Buffer): Buffer {
  let from = 0;
  while (body[from] === 0x3a) {
    const end = body.indexOf("\n\n", from);
    if (end < 0) break;
    from = end + 2;
  }
  return body.subarray(from);
}

function startsWith(wanted: Buffer, begun: Buffer): boolean {
  return begun.length <= wanted.length && wanted.subarray(0, begun.length).equals(begun);
}

function difference(wanted: Buffer, got: Buffer, nonce: string): string {
  let at = 0;
  while (at < got.length && at < wanted.length && got[at] === wanted[at]) at += 1;
  const others = (got.toString().match(/[0-9a-f]{16}(?=\.\d)/g) ?? []).filter((other) => other !== nonce);
  if (others.length > 0) return `another request's answer: ${others[0]} in ${nonce}`;
  return `differs at byte ${at}: ${JSON.stringify(got.subarray(at, at + 40).toString())}`;
}
