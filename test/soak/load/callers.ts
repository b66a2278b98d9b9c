// The soak's side of the callers' process.
import type { ChildProcess } from "node:child_process";
import type { Children } from "../../bench/process/children.ts";
import type { Order, Report } from "./main.ts";
import { emptyTally, type Tally } from "./tally.ts";

export class Callers {
  tally: Tally = emptyTally();
  underWay = 0;
  readonly ended: Promise<void>;
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#process = child;
    this.ended = new Promise((resolve, reject) => {
      child.on("message", (report: Report) => {
        if (report.at === "ready") return;
        this.tally = report.tally;
        this.underWay = report.underWay;
        if (report.at === "ended") resolve();
      });
      child.once("exit", () => reject(new Error("the callers' process is gone")));
    });
    this.ended.catch(() => {});
  }

  static async start(children: Children): Promise<Callers> {
    const child = children.fork(new URL("./main.ts", import.meta.url));
    await children.message(child);
    return new Callers(child);
  }

  begin(order: Omit<Extract<Order, { do: "start" }>, "do">): void {
    this.#order({ do: "start", ...order });
  }

  /** No new requests; resolves when the last has ended. */
  stop(): Promise<void> {
    this.#order({ do: "stop" });
    return this.ended;
  }

  #order(order: Order): void {
    this.#process.send(order);
  }
}
