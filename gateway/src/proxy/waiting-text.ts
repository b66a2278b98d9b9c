import { formatDuration, plainText } from "@farmgate/shared";

/** What is known of a request that waits. Times in milliseconds. */
export interface Wait {
  /**
   * looking: the first catalogues are not there yet; queued: every worker that should serve it is at its cap; asked: a
   * worker has it and is silent; begun: the worker has sent the head of its answer.
   */
  stage: "looking" | "queued" | "asked" | "begun";
  model: string;
  /** Who has it; null: nobody. */
  worker: string | null;
  /** The worker loads the model for it. */
  loading: boolean;
  /** The model is known to be loaded there. */
  warm: boolean;
  /** Since it arrived. */
  waitedMs: number;
  /** Since this worker was asked; null: none was. */
  askedMs: number | null;
  /** How long loading the model takes there as a rule; null: not known. */
  loadMs: number | null;
  /** In the queue of the worker's agent, from 1; null: in none, as far as is known. */
  position: number | null;
}

/** What is waited for, in one line of plain words. Names are others' words: no control character of theirs is in it. */
export function waitingText(wait: Wait): string {
  return plainText(`farmgate: ${inWords(wait)}`);
}

function inWords({ stage, model, worker, loading, warm, waitedMs, askedMs, loadMs, position }: Wait): string {
  const soFar = `${seconds(waitedMs)} so far`;
  if (stage === "looking") return `looking for the workers, ${soFar}`;
  if (stage === "queued" || worker === null) return `every worker for ${model} is busy, waiting for a place, ${soFar}`;
  if (stage === "begun") return `${worker} has begun its answer with ${model}, ${soFar}`;
  const place = position === null ? "" : `, place ${position} in its queue`;
  if (loading) {
    const usual = loadMs === null ? "" : ` of about ${seconds(loadMs)}`;
    return `${worker} is loading ${model}, ${seconds(askedMs ?? waitedMs)} so far${usual}${place}`;
  }
  if (position !== null) return `waiting for ${model} on ${worker}${place}, ${soFar}`;
  if (warm) return `${worker} has ${model} loaded and works on the answer, ${soFar}`;
  return `${worker} was asked for ${model}, ${soFar}`;
}

function seconds(ms: number): string {
  return formatDuration(Math.round(ms / 1_000) * 1_000).replace(/^0 ms$/, "0 s");
}
