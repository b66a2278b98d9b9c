// The bench's side of the load process.
import type { ChildProcess } from "node:child_process";
import type { Children } from "../process/children.ts";
import type { Job, Outcome, Report } from "./jobs.ts";

/** Longer than any job takes; a proxy that never answers must not hold up the bench. */
const PATIENCE_MS = 60_000;

export interface Around {
  onOpen?(): void;
  onClose?(): void;
}

export class LoadClient {
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#process = child;
  }

  static async start(children: Children): Promise<LoadClient> {
    const child = children.fork(new URL("./main.ts", import.meta.url));
    await children.message(child);
    return new LoadClient(child);
  }

  /** Runs a job to its end; `around` is called at both ends of the window that counts. */
  run(job: Job, around: Around = {}): Promise<Outcome> {
    const child = this.#process;
    return new Promise((resolve, reject) => {
      let outcome: Outcome | undefined;
      const finish = (error?: Error) => {
        clearTimeout(patience);
        child.off("message", onReport);
        child.off("exit", onExit);
        if (outcome === undefined || error !== undefined) reject(error ?? new Error("the load ended without a result"));
        else resolve(outcome);
      };
      const patience = setTimeout(() => finish(new Error("requests were never answered")), PATIENCE_MS);
      const onExit = () => finish(new Error("the load process is gone"));
      const onReport = (report: Report) => {
        if (report.at === "open") around.onOpen?.();
        else if (report.at === "idle") finish();
        else if (report.at === "failed") finish(new Error(report.message));
        else if (report.at === "close") {
          around.onClose?.();
          outcome = report.outcome;
        }
      };
      child.on("message", onReport);
      child.once("exit", onExit);
      child.send(job);
    });
  }
}
