import { type Figures, NO_FIGURES } from "./figures.ts";

/** What an answer says, whole or one event of its stream, whatever API it comes by. Empty fields: nothing. */
export interface ChatPiece {
  /** It holds an answer, or a piece of one; false: figures alone, or nothing. */
  answers: boolean;
  /** As the worker names it. */
  model: string;
  thinking: string;
  text: string;
  calls: readonly CallPiece[];
  /** As chat has them. */
  logprobs: readonly unknown[];
  /** Why the answer ended; null: it goes on, or the worker does not tell. */
  finish: string | null;
  /** The stop sequence that ended it, where the engine tells. */
  stoppedBy: string | null;
  figures: Figures;
}

/** A call of a tool, or a piece of one. null: not told. */
export interface CallPiece {
  /** Which call of the answer it belongs to. */
  index: number | null;
  id: string | null;
  name: string | null;
  /** JSON text, or a piece of it. */
  args: string;
}

export const NOTHING_SAID: ChatPiece = {
  answers: false,
  model: "",
  thinking: "",
  text: "",
  calls: [],
  logprobs: [],
  finish: null,
  stoppedBy: null,
  figures: NO_FIGURES,
};
