import { type Breaker, breakerWords } from "../routing/breaker.ts";
import type { Catalog, WorkerEntry } from "./types.ts";
import type { WorkerNews } from "./worker-news.ts";
import { formatDuration } from "@farmgate/shared";

/** Breakers that opened, opened again after a trial, or closed between two catalogues. */
export function breakerNews(before: Catalog, after: Catalog): WorkerNews[] {
  const known = new Map(before.workers.map((worker) => [worker.config.name, worker]));
  return after.workers.flatMap((worker) => {
    const last = known.get(worker.config.name);
    return last === undefined || last.breakers === worker.breakers ? [] : newsOf(last, worker);
  });
}

/** It has just been opened. */
function nextTrial({ pauseMs }: Breaker): string {
  return `; next trial in ${formatDuration(pauseMs)}`;
}

function newsOf(before: WorkerEntry, after: WorkerEntry): WorkerNews[] {
  const worker = after.config.name;
  const news: WorkerNews[] = [];
  for (const [key, breaker] of after.breakers) {
    const last = before.breakers.get(key)?.openUntil ?? null;
    if (breaker.openUntil === null || breaker.openUntil === last) continue;
    const message =
      last === null
        ? `gets no ${breaker.model} for now: ${breakerWords(breaker)}${nextTrial(breaker)}`
        : `still fails with ${breaker.model} (${breaker.reason})${nextTrial(breaker)}`;
    news.push({ level: last === null ? "warn" : "info", worker, message });
  }
  // One that is out is told of as such.
  if (after.health === "unhealthy") return news;
  for (const [key, breaker] of before.breakers) {
    const isOpen = after.breakers.get(key)?.openUntil != null;
    if (breaker.openUntil === null || isOpen) continue;
    news.push({ level: "info", worker, message: `answers with ${breaker.model} again` });
  }
  return news;
}
