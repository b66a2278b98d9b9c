import { adapterFor, lastModelOf, servedOther } from "@farmgate/engines";
import type { Farm } from "../farm.ts";
import type { PairFault } from "../routing/breaker.ts";
import type { Choice } from "../routing/types.ts";
import type { Call } from "./call.ts";
import { type FailedAttempt, faultWords, isPairFault } from "./failure.ts";

/** What the catalogue learns from a failed try. `late`: the caller's deadline has passed. */
export function tellCatalog(farm: Farm, call: Call, choice: Choice, failed: FailedAttempt, late: boolean): void {
  const worker = choice.worker.config.name;
  const { upstreamModel: model, api } = choice;
  if (isPairFault(failed, late))
    tellFault(farm, call, worker, faultWords(failed), {
      stalled: false,
      broke: failed.by === "connection" && failed.kind === "reset",
      unreached: failed.by === "connection" && failed.phase === "connect",
    });
  if (failed.by === "connection") {
    if (failed.kind === "refused") farm.catalog.apply({ type: "refused", worker });
  } else if (failed.untold === true) {
    return;
  } else if (failed.meaning === "unknown_model") {
    farm.catalog.apply({ type: "disowned", worker, model, api, reason: `answered ${failed.status}` });
  } else if (failed.meaning === "load_failed") {
    farm.catalog.apply({ type: "load_failed", worker, model });
  }
}

/** Answer bytes came: once when they begin, once when they end. */
export function tellAnswered(farm: Farm, { worker, upstreamModel }: Call): void {
  if (worker === null) return;
  farm.catalog.apply({ type: "answered", worker, model: upstreamModel, at: farm.clock.now() });
}

/** An answer has ended that was passed on: whole, or the worker stopped sending (`stalled`), or `broke` it off. */
export function tellEnded(farm: Farm, call: Call, end: "whole" | "stalled" | "broke"): void {
  if (call.worker === null) return;
  if (end === "whole") farm.catalog.apply({ type: "served", worker: call.worker, model: call.upstreamModel });
  else if (end === "stalled")
    tellFault(farm, call, call.worker, "an answer stopped coming", { stalled: true, broke: false });
  else tellFault(farm, call, call.worker, "an answer broke off", { stalled: true, broke: true });
}

function tellFault(
  farm: Farm,
  call: Call,
  worker: string,
  reason: string,
  how: Pick<PairFault, "stalled" | "broke"> & { unreached?: boolean },
): void {
  const { upstreamModel: model, askedAt } = call;
  farm.catalog.apply({ type: "faulted", worker, model, sentAt: askedAt ?? farm.clock.now(), reason, ...how });
}

/** LM Studio with one model loaded may answer any name by it: a pair that was seen to do so is set aside. */
export function tellOther(farm: Farm, call: Call, { worker, upstreamModel: model }: Choice): void {
  if (worker.engine === null || !adapterFor(worker.engine).mayServeOther) return;
  const answered = lastModelOf(call.tap.text());
  if (!servedOther(model, answered)) return;
  const { name } = worker.config;
  farm.log.warn({ worker: name, model, answered }, `${name} answered ${model} by another model`);
  farm.catalog.apply({ type: "disowned", worker: name, model, reason: `answered by ${answered} instead` });
}
