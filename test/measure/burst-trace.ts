// Bursts for a few seconds or a minute, and the very questions that have so many tokens.
import { seededRandom } from "@farmgate/shared";
import { engineOptionsSchema, planAnswer } from "@farmgate/simulator";
import type { Trace } from "@farmgate/simulator/virtual";

/** Requests of a burst at most, milliseconds between two of them and between two bursts, on average. */
const BURST = { most: 12, gapMs: 60, pauseMs: 1_000 };
const WORDS = { least: 20, most: 900 };
const ANSWER = { least: 20, most: 90 };

export interface Question {
  at: number;
  model: string;
  body: Record<string, unknown>;
}

/** Bursts of one or two models each, seeded. `questions` are the rows of `trace`, as they are asked. */
export function burstTrace(
  models: readonly string[],
  ms: number,
  seed: number,
): { trace: Trace; questions: Question[] } {
  const random = seededRandom(seed);
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  const gap = (mean: number) => -Math.log(1 - random()) * mean;
  const questions: Question[] = [];
  for (let start = 0; start < ms; start += gap(BURST.pauseMs)) {
    const pair = [models[between(0, models.length - 1)] ?? "", models[between(0, models.length - 1)] ?? ""];
    const size = between(1, BURST.most);
    for (let i = 0, at = start; i < size && at < ms; i += 1, at += gap(BURST.gapMs)) {
      const model = pair[random() < 0.7 ? 0 : 1] ?? "";
      // It begins with what no other has, so that no engine has read a part of it already.
      const content = `${random().toString(36)} ${"word ".repeat(between(WORDS.least, WORDS.most))}`;
      const max_tokens = between(ANSWER.least, ANSWER.most);
      questions.push({ at, model, body: { model, messages: [{ role: "user", content }], stream: true, max_tokens } });
    }
  }
  questions.sort((a, b) => a.at - b.at);
  return { questions, trace: traceOf(models, questions) };
}

function traceOf(models: readonly string[], questions: readonly Question[]): Trace {
  return {
    applications: models,
    at: Float64Array.from(questions, ({ at }) => at),
    app: Uint16Array.from(questions, ({ model }) => models.indexOf(model)),
    input: Uint32Array.from(questions, ({ model, body }) => promptTokens(model, body)),
    output: Uint32Array.from(questions, ({ body }) => Number(body["max_tokens"])),
  };
}

function promptTokens(name: string, body: Record<string, unknown>): number {
  const [model] = engineOptionsSchema.parse({ models: [name] }).models;
  const plan = model === undefined ? null : planAnswer("chat", body, model);
  if (plan === null || !("promptTokens" in plan)) throw new Error("the simulated engine does not take the question");
  return plan.promptTokens;
}
