import type { AnswerPlan } from "./answer-plan.ts";
import { chatShape } from "./shape-chat.ts";
import { completionShape } from "./shape-completion.ts";
import { messagesShape } from "./shape-messages.ts";
import { nativeShape } from "./shape-native.ts";
import { responsesShape } from "./shape-responses.ts";

/** What an answer's envelope says besides its text. */
export interface AnswerHead {
  /** Unique letters and digits for the ids in the answer. */
  id: string;
  /** Seconds since the Unix epoch. */
  created: number;
}

/** How the work went, in tokens and milliseconds. */
export interface AnswerTimings {
  cachedTokens: number;
  promptMs: number;
  predictedMs: number;
}

/** One API's way to write an answer down. Every text is whole server-sent events, or the whole JSON body. */
export interface AnswerShape {
  /** What goes out with the first token, before it. */
  opening(timings: AnswerTimings): string;
  token(piece: string): string;
  closing(timings: AnswerTimings): string;
  whole(timings: AnswerTimings): string;
}

export function answerShape(plan: AnswerPlan, head: AnswerHead): AnswerShape {
  switch (plan.api) {
    case "chat":
      return chatShape(plan, head);
    case "completions":
      return completionShape(plan, head);
    case "responses":
      return responsesShape(plan, head);
    case "messages":
      return messagesShape(plan, head);
    case "completion":
    case "infill":
      return nativeShape(plan);
  }
}
