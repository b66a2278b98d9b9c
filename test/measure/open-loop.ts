// Requests at a fixed rate, whether or not the earlier ones are answered, and what came of each.
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, ask } from "../harness/ask.ts";

export interface Loop {
  /** Where it is sent. */
  url: string;
  perSecond: number;
  /** At most so many are under way; what is due beyond that is not sent, and counted. */
  most: number;
  body: (place: number) => Record<string, unknown>;
  onAnswer: (answer: Answer, place: number) => void;
}

export class OpenLoop {
  sent = 0;
  underWay = 0;
  notSent = 0;
  readonly #loop: Loop;
  #isStopped = false;
  readonly #running: Promise<void>;

  constructor(loop: Loop) {
    this.#loop = loop;
    this.#running = this.#run();
  }

  /** Sends one now, in place of one that is due; its place, or null when too many are under way. */
  send(): number | null {
    const { url, body, onAnswer, most } = this.#loop;
    if (this.underWay >= most) {
      this.notSent += 1;
      return null;
    }
    const place = this.sent;
    this.sent += 1;
    this.underWay += 1;
    void ask(`${url}/v1/chat/completions`, body(place)).answer.then((answer) => {
      this.underWay -= 1;
      onAnswer(answer, place);
    });
    return place;
  }

  /** No new ones; resolves when all are answered, or after `ms`. */
  async stop(ms: number): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    for (const end = performance.now() + ms; this.underWay > 0 && performance.now() < end; ) await sleep(20);
  }

  async #run(): Promise<void> {
    const began = performance.now();
    while (!this.#isStopped) {
      const due = ((performance.now() - began) * this.#loop.perSecond) / 1_000;
      while (this.sent + this.notSent < due) this.send();
      await sleep(2);
    }
  }
}
