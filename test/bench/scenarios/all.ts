import { firstByte } from "./first-byte.ts";
import { largeBodies } from "./large-bodies.ts";
import { longPrompts } from "./long-prompts.ts";
import { openStreams } from "./open-streams.ts";
import type { Scenario } from "./scenario.ts";
import { processes } from "./processes.ts";
import { shortAnswers } from "./short-answers.ts";
import { streamedChunks } from "./streamed-chunks.ts";

/** In the order in which they run. */
export const scenarios: Record<string, Scenario> = {
  "short-answers": shortAnswers,
  "streamed-chunks": streamedChunks,
  "first-byte": firstByte,
  "long-prompts": longPrompts,
  "large-bodies": largeBodies,
  "open-streams": openStreams,
  processes,
};
