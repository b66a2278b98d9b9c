import { z } from "zod";
import { type Adapter, PLAIN } from "./adapter.ts";
import { meaningOf } from "./meaning.ts";
import { catalogModel, catalogReport } from "./read-model.ts";

const health = z.object({ status: z.literal("ok") });

/**
 * whisper.cpp's server: one model for speech, always loaded, whose name it tells nowhere. Its health route stands for
 * a catalogue, and the model is called "whisper". It answers one request at a time, whatever name that has.
 * There is a call that loads another model, by which the process ends when that fails: it is never used.
 */
export const whisper: Adapter = {
  ...PLAIN,
  engine: "whisper",
  catalogPath: "/health",
  defaultSlots: 1,
  parse(main) {
    if (!health.safeParse(main).success) return null;
    const model = catalogModel("whisper", "warm", { kind: "audio" });
    return catalogReport([model], { refusesUnknown: false, slots: 1 });
  },
  // It says 503 for one reason: its model is still being loaded.
  meaning: (answer) => (answer.status === 503 ? "loading" : meaningOf(answer, [])),
};
