import { seededRandom } from "@farmgate/shared";
import { modelRules, rulesFor } from "./workload.ts";
import type { Arrival, Workload } from "./workload.ts";

const HOUR = 3_600_000;
const SLOTS = 4;
/** Milliseconds between two requests of one burst. */
const WITHIN_BURST = 20;
/** Milliseconds; each request of the stream comes so long before the answer of the last one would end. */
const OVERLAP = 500;

export const LOAD_MS = 20_000;
/** Answers are spread evenly between these. */
export const ANSWER_MS = { least: 2_000, most: 10_000 };

/**
 * An hour of three models of which one is loaded at a time. For `chat` there is a stream that never pauses while it is
 * served, of one request or two at a time; for `code` and `tools` there are bursts of 1 to 15, one each 90 s or so, and
 * one in three bursts asks for all three models by turns.
 */
export function burstyHour(seed: number): Workload {
  const random = seededRandom(seed);
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1));
  const answer = () => between(ANSWER_MS.least, ANSWER_MS.most);
  const asked: Omit<Arrival, "id">[] = [];
  for (let at = 0; at < HOUR; ) {
    const answerMs = answer();
    asked.push({ at, model: "chat", answerMs });
    at += answerMs - OVERLAP;
  }
  for (let at = between(10_000, 60_000); at < HOUR; at += between(30_000, 150_000)) {
    const size = between(1, 15);
    const models = random() < 1 / 3 ? ["code", "chat", "tools"] : [random() < 0.5 ? "code" : "tools"];
    for (let index = 0; index < size; index += 1) {
      const model = models.at(index % models.length) as string;
      asked.push({ at: at + index * WITHIN_BURST, model, answerMs: answer() });
    }
  }
  asked.sort((a, b) => a.at - b.at);
  const models = ["chat", "code", "tools"].map((name) => modelRules(name, { slots: SLOTS }));
  return {
    rules: rulesFor({}, { models }),
    loadMs: LOAD_MS,
    found: "chat",
    arrivals: asked.map((arrival, index) => ({ ...arrival, id: String(index + 1) })),
  };
}
