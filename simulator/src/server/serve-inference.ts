import type { CancelTimer } from "@farmgate/shared";
import type { AnswerPlan } from "../decide/answer-plan.ts";
import { answerShape } from "../decide/answer-shape.ts";
import { digestOf } from "../decide/digest.ts";
import type { ModelJob } from "../decide/engine-state.ts";
import type { Ailments } from "../decide/fail-plan.ts";
import { dueAt, paceOf } from "../decide/pace.ts";
import type { SlotStart } from "../decide/slot-pool.ts";
import type { WholePlan } from "../decide/whole-plan.ts";
import type { AnswerWriter } from "./answer-writer.ts";
import type { JobHandlers } from "./desk.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { Visit } from "./visit.ts";
import { streamAnswer } from "./stream-answer.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** Waits for a slot and answers with text, at the engine's pace. */
export function serveText(engine: EngineParts, visit: Visit, plan: AnswerPlan, ailments: Ailments): void {
  const job: ModelJob = { id: visit.id, model: plan.model, prompt: plan.prompt };
  serveJob(engine, visit, job, ailments, (writer, start, ended) => {
    const { clock, options } = engine;
    const promptTokens = plan.promptTokens - start.cachedTokens;
    const pace = paceOf(clock.now(), promptTokens, options, ailments.slow);
    const timings = {
      cachedTokens: start.cachedTokens,
      promptMs: pace.prefillMs,
      predictedMs: pace.tokenMs * plan.pieces.length,
    };
    const created = Math.floor(clock.wall() / 1_000);
    const shape = answerShape(plan, { id: digestOf(plan.digest, visit.id).slice(0, 32), created });
    // The slot holds prompt and answer, as the next turn of the conversation will repeat them.
    const done = () => ended(`${plan.pieces.join("")}<|end|>`);
    if (plan.stream) return streamAnswer(writer, shape, plan.pieces, pace, timings, clock, done);
    return clock.after(dueAt(pace, plan.pieces.length) - clock.now(), () => {
      writer.json(200, shape.whole(timings));
      done();
    });
  });
}

/** Waits for a slot and answers with what only the prompt costs time for. */
export function serveWhole(
  engine: EngineParts,
  visit: Visit,
  model: string,
  plan: WholePlan,
  ailments: Ailments,
): void {
  const job: ModelJob = { id: visit.id, model, prompt: "" };
  serveJob(engine, visit, job, ailments, (writer, _start, ended) => {
    const pace = paceOf(0, plan.promptTokens, engine.options, ailments.slow);
    return engine.clock.after(pace.prefillMs, () => {
      writer.whole(plan.contentType ?? JSON_TYPE, plan.body);
      ended("");
    });
  });
}

type Work = (writer: AnswerWriter, start: SlotStart, ended: (answer: string) => void) => CancelTimer;

/** One job from its arrival to its end, whichever comes first: the answer, a refusal, or the end of the connection. */
export function serveJob(engine: EngineParts, visit: Visit, job: ModelJob, ailments: Ailments, work: Work): void {
  const writer = visit.writer(ailments.resetAfter);
  let over = false;
  let cancel: CancelTimer = () => {};
  visit.onLeft(() => {
    if (over) return;
    over = true;
    cancel();
    engine.desk.gone(job, writer.broken ? "reset" : "left");
  });
  const handlers: JobHandlers = {
    started(start) {
      cancel = work(writer, start, (answer) => {
        if (over || writer.broken) return;
        over = true;
        engine.desk.served(job, answer);
      });
    },
    refused(error) {
      over = true;
      writer.error(error);
    },
  };
  engine.desk.submit(job, handlers, visit.autoload);
}
