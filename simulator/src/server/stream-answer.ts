import type { CancelTimer, Clock } from "@farmgate/shared";
import type { AnswerShape, AnswerTimings } from "../decide/answer-shape.ts";
import { dueAt, type Pace, tokensDue } from "../decide/pace.ts";
import type { AnswerWriter } from "./answer-writer.ts";

/** Events joined into one write at most, so that a slow reader is noticed. */
const MOST_AT_ONCE = 256;

/** Sends an answer token by token as they fall due, one timer at a time. Returns what stops it; `ended` is called at the end. */
export function streamAnswer(
  writer: AnswerWriter,
  shape: AnswerShape,
  pieces: readonly string[],
  pace: Pace,
  timings: AnswerTimings,
  clock: Clock,
  ended: () => void,
): CancelTimer {
  let sent = 0;
  let opened = false;
  let stopped = false;
  let cancel: CancelTimer = () => {};

  const step = () => {
    if (stopped) return;
    for (;;) {
      const now = clock.now();
      const upTo = Math.min(tokensDue(pace, pieces.length, now), sent + MOST_AT_ONCE);
      if (sent === pieces.length && now >= dueAt(pace, sent)) {
        writer.events((opened ? "" : shape.opening(timings)) + shape.closing(timings));
        writer.end();
        ended();
        return;
      }
      if (upTo === sent) {
        cancel = clock.after(Math.max(0, Math.ceil(dueAt(pace, Math.min(sent + 1, pieces.length)) - now)), step);
        return;
      }
      let text = opened ? "" : shape.opening(timings);
      opened = true;
      for (; sent < upTo; sent += 1) text += shape.token(pieces[sent] ?? "");
      if (!writer.events(text)) {
        writer.drained(step);
        return;
      }
    }
  };
  step();
  return () => {
    stopped = true;
    cancel();
  };
}
