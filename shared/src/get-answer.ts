/** What one bounded GET brought. */
export type GetAnswer =
  | { kind: "answer"; status: number; server: string; body: string }
  /** A status line came, but not the whole body: too large, too slow, broken off. */
  | { kind: "broken"; status: number; reason: string }
  /** No status line. */
  | { kind: "silent"; refused: boolean; reason: string };
