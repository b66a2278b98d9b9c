import { formatDuration } from "@farmgate/shared";
import type { Instance } from "./instances.ts";

/** The queue of a model, as a request finds it that comes now. */
export interface QueueView {
  waiting: number;
  /** When each slot of the workers that have the model is free, in milliseconds; by worker, the earliest first. */
  slots: { worker: string; freeInMs: number }[];
  reason: string;
}

export function queueView(waiting: number, instances: readonly Instance[], now: number): QueueView {
  const slots = instances
    .map(({ worker, availableAt }) => ({ worker, freeInMs: Math.max(0, Math.round(availableAt - now)) }))
    .sort((a, b) => a.freeInMs - b.freeInMs);
  return { waiting, slots, reason: reasonFor(waiting, slots) };
}

function reasonFor(waiting: number, slots: QueueView["slots"]): string {
  const [first] = slots;
  if (first === undefined) return "nobody has the model loaded: a request goes where it is loaded, without a wait here";
  const free = slots.filter(({ freeInMs }) => freeInMs === 0).length;
  const next =
    free > 0 ? `${free} free` : `the next free at ${first.worker} in about ${formatDuration(first.freeInMs)}`;
  return `${waiting} waiting by their deadlines; ${slots.length} slots, ${next}`;
}
