import type { Catalog, WorkerEntry } from "./types.ts";

/** Something about a worker that its owner should read in the log. */
export interface WorkerNews {
  level: "info" | "warn" | "error";
  worker: string;
  message: string;
}

/** What became of the workers between two catalogues; at most one line for each. */
export function workerNews(before: Catalog, after: Catalog): WorkerNews[] {
  const known = new Map(before.workers.map((worker) => [worker.config.name, worker]));
  return after.workers.flatMap((worker) => {
    const news = newsOf(known.get(worker.config.name) ?? null, worker);
    return news === null ? [] : [{ worker: worker.config.name, ...news }];
  });
}

/** The gravest thing that changed: health, then the engine, then the catalogue, then draining. */
function newsOf(before: WorkerEntry | null, after: WorkerEntry): Omit<WorkerNews, "worker"> | null {
  if (before === after) return null;
  const because = after.problem === null ? "" : ` (${after.problem})`;
  if (after.health !== (before?.health ?? "unknown")) return healthNews(before, after, because);
  if (before === null || after.health === "unhealthy" || after.health === "misconfigured") return null;
  if (after.engine !== before.engine) return { level: "info", message: `is now ${offer(after)}` };
  if (after.catalog === "unreachable" && before.catalog !== "unreachable") {
    return { level: "warn", message: `its catalogue cannot be fetched, so it may have any model loaded${because}` };
  }
  if (after.catalog === "fresh" && before.catalog === "unreachable") {
    return { level: "info", message: `its catalogue is back: ${offer(after)}` };
  }
  if (after.draining === before.draining) return null;
  return { level: "info", message: after.draining ? "drains: it gets no new requests" : "no longer drains" };
}

function healthNews(before: WorkerEntry | null, after: WorkerEntry, because: string): Omit<WorkerNews, "worker"> {
  switch (after.health) {
    case "unhealthy":
      return { level: "warn", message: `is unhealthy and out until it answers${because}` };
    case "misconfigured":
      return { level: "error", message: `refuses the gateway's key and is out until that is mended${because}` };
    case "unknown":
      return { level: "info", message: "gets another chance with its new configuration" };
    case "healthy": {
      const again = before !== null && before.health !== "unknown" ? "is back" : "answers";
      return after.catalog === "fresh"
        ? { level: "info", message: `${again}: ${offer(after)}` }
        : { level: "warn", message: `${again}, without a usable catalogue${because}` };
    }
  }
}

function offer(worker: WorkerEntry): string {
  const models = worker.report?.models.length ?? 0;
  return `${worker.engine ?? "an unknown engine"} with ${models} ${models === 1 ? "model" : "models"}`;
}
