// The load process: takes one job at a time from the bench and does it.
import { setTimeout as sleep } from "node:timers/promises";
import { closedLoop } from "./closed-loop.ts";
import { heldStreams } from "./held-streams.ts";
import type { Job, Report, Window } from "./jobs.ts";
import { openLoop } from "./open-loop.ts";
import { sequential } from "./sequential.ts";

/** Time for the proxies to notice that the connections of the last job are gone. */
const SETTLE_MS = 100;

const tell = (report: Report) => process.send?.(report);
const window: Window = {
  open: () => tell({ at: "open" }),
  close: (outcome) => tell({ at: "close", outcome }),
};

function start(job: Job): Promise<void> {
  switch (job.kind) {
    case "closed-loop":
      return closedLoop(job, window);
    case "held-streams":
      return heldStreams(job, window);
    case "sequential":
      return sequential(job, window);
    case "open-loop":
      return openLoop(job, window);
  }
}

process.on("message", (job: Job) => {
  start(job)
    .then(() => sleep(SETTLE_MS))
    .then(
      () => tell({ at: "idle" }),
      (error: unknown) => tell({ at: "failed", message: String(error) }),
    );
});
process.once("disconnect", () => process.exit(0));
tell({ at: "ready" });
