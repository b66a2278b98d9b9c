// How a request ended, as its caller can know it. Pure.
import { parseJson } from "@farmgate/shared";
import type { Ask } from "./asks.ts";
import { floodPieces } from "./expected.ts";
import { errorIn, readAnswer } from "./read-answer.ts";

/** What came of a request. */
export interface Came {
  /** 0: the connection broke before the status line. */
  status: number;
  body: string;
  /** The body ended as HTTP has it. */
  complete: boolean;
  /** We closed the connection. */
  left: boolean;
}

export type Verdict =
  | { end: "whole" }
  /** An error that says so; `as`: its status and code. */
  | { end: "told"; as: string }
  | { end: "left" }
  /** None of these: it must not happen. */
  | { end: "lost"; why: string };

/**
 * (1) What came is another text than it should be, as far as it goes: lost, whoever left.
 * (2) We left: left.
 * (3) No status line: lost.
 * (4) An error status: told, when it is one of those that a sick farm may answer and its body is an error of that API.
 * (5) An error inside the answer: told.
 * (6) A whole answer, by its API's own end and by HTTP's: whole; without one of them: lost, but for an answer that
 * is no stream: there a broken connection is all that HTTP has for telling.
 */
export function verdictOf(ask: Ask, came: Came): Verdict {
  const isGood = came.status === 200;
  const { text, ended, error } = readAnswer(ask.form, isGood ? came.body : "");
  const right = ask.form === "flood-stream" ? [...floodPieces(ask.expected)].join("") : ask.expected;
  if (!right.startsWith(text)) return { end: "lost", why: `another text: ${short(text)}` }; // (1)
  if (came.left) return { end: "left" }; // (2)
  if (came.status === 0) return { end: "lost", why: "no answer" }; // (3)
  if (!isGood) {
    const code = errorIn(parseJson(came.body));
    if (code === null || !isOfSickFarm(came.status) || code === "internal") {
      return { end: "lost", why: `${came.status} ${short(came.body)}` };
    }
    return { end: "told", as: `${came.status} ${code}` }; // (4)
  }
  if (error === "internal") return { end: "lost", why: "internal, inside the answer" };
  if (error !== null) return { end: "told", as: `inside the answer ${error}` }; // (5)
  if (ended && came.complete && text === right) return { end: "whole" }; // (6)
  if (!came.complete && ask.form === "chat-whole") {
    return { end: "told", as: "connection closed inside a whole answer" };
  }
  return { end: "lost", why: `${came.complete ? "ended" : "broken"} after ${text.length} of ${right.length} letters` };
}

function isOfSickFarm(status: number): boolean {
  return status === 429 || status >= 500;
}

function short(text: string): string {
  return JSON.stringify(text.slice(0, 150));
}
