import type { CancelTimer, Clock } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { News } from "../news.ts";
import type { FarmKeys } from "./farm-keys.ts";
import type { Heartbeat } from "./heartbeat.ts";
import type { HubTimes } from "./hub-times.ts";
import { messageOf, MOST_TOLD, type Told } from "./messages.ts";
import type { OwnShare } from "./own-share.ts";
import type { RunScript } from "./scripts.ts";
import { withLimit } from "./time-limit.ts";

export interface StepsOptions {
  id: string;
  clock: Clock;
  log: Log;
  times: HubTimes;
  keys: FarmKeys;
  run: RunScript;
  share: OwnShare;
  heart: Heartbeat;
  nextStep: () => number;
}

/**
 * Writes and tells what changed: gathered, in one trip, and only one of them at a time, so that a slow Redis gets fewer
 * and larger ones.
 */
export class Steps {
  readonly #options: StepsOptions;
  #news: News[] = [];
  #stopTimer: CancelTimer | null = null;
  #isUnderWay = false;
  #isDue = false;

  constructor(options: StepsOptions) {
    this.#options = options;
  }

  tell(news: News): void {
    if (!this.#options.heart.isUp) return;
    this.#news.push(news);
    this.soon();
  }

  soon(): void {
    const { clock, times } = this.#options;
    if (this.#isUnderWay) this.#isDue = true;
    else this.#stopTimer ??= clock.after(times.gather, () => this.#send());
  }

  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = () => {};
  }

  #send(): void {
    const { clock, times, keys, id, run, share, heart, nextStep } = this.#options;
    this.#stopTimer = null;
    const news = this.#news;
    this.#news = [];
    // The heartbeat writes all of it when it is back.
    if (!heart.isUp) return;
    const step = share.step();
    if (step === null && news.length === 0) return;
    const number = nextStep();
    const counts = step === null || step.told.size === 0 ? {} : { counts: { step: number, fields: [...step.told] } };
    const { sums, pairs } = step ?? { sums: [], pairs: [] };
    const message = this.#message(counts, news);
    const args = [heart.generation, keys.news, message, number, sums.length / 2, ...sums, ...pairs];
    this.#isUnderWay = true;
    const reply = run("step", [keys.recordOf(id)], args).finally(() => {
      this.#isUnderWay = false;
      if (this.#isDue) this.soon();
      this.#isDue = false;
    });
    withLimit(clock, times.command, reply).then(
      (found) => {
        if (found === 0) heart.lost();
      },
      (error: unknown) => heart.failed(error),
    );
  }

  #message(counts: Told, news: News[]): string {
    const { id, log } = this.#options;
    if (news.length > 0) {
      const message = messageOf(id, { ...counts, news });
      if (message.length <= MOST_TOLD) return message;
      log.warn({ characters: message.length }, "news for the other gateways are too long and were not sent");
    }
    return counts.counts === undefined ? "" : messageOf(id, counts);
  }
}
