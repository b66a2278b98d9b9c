import type { Clock } from "@farmgate/shared";
import type { Claim, Claimed } from "../hub.ts";
import type { FarmKeys } from "./farm-keys.ts";
import type { Heartbeat } from "./heartbeat.ts";
import type { HubTimes } from "./hub-times.ts";
import type { OwnShare } from "./own-share.ts";
import type { RunScript } from "./scripts.ts";
import { withLimit } from "./time-limit.ts";

const ALONE: Claimed = { kind: "alone" };

export interface ClaimsOptions {
  id: string;
  clock: Clock;
  times: HubTimes;
  keys: FarmKeys;
  run: RunScript;
  share: OwnShare;
  heart: Heartbeat;
  /** The record has a place more, of which the others are to know. */
  taken: () => void;
}

/** Takes places in Redis. Nobody waits for it while it is away. */
export class Claims {
  readonly #options: ClaimsOptions;
  #unanswered = 0;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  get unanswered(): number {
    return this.#unanswered;
  }

  async claim(claim: Claim): Promise<Claimed> {
    const { clock, times, heart } = this.#options;
    if (!heart.isSettled) return ALONE;
    try {
      return await withLimit(clock, times.claim, this.#ask(claim));
    } catch (error) {
      heart.failed(error);
      return ALONE;
    }
  }

  async #ask(claim: Claim): Promise<Claimed> {
    const { id, keys, times, run, share, heart, taken } = this.#options;
    const { places, take, caller } = claim;
    const { generation } = heart;
    const args = [
      generation,
      times.window,
      times.settle,
      keys.record,
      take,
      caller?.name ?? "",
      caller?.maxConcurrent ?? 0,
      caller?.requestsPerMinute ?? 0,
      ...places.flatMap(({ worker, cap, capacity }) => [worker, cap, capacity]),
    ];
    let reply: unknown;
    this.#unanswered += 1;
    try {
      reply = await run("claim", [keys.members, keys.recordOf(id), keys.epoch, keys.rate(caller?.name ?? "")], args);
    } finally {
      this.#unanswered -= 1;
    }
    const claimed = readClaimed(reply, claim);
    if (claimed === null) {
      if ((reply as [string])[0] === "settling") heart.unsettled();
      else heart.lost();
      return ALONE;
    }
    if (claimed.kind === "taken" || claimed.kind === "full") {
      // An answer of an earlier record says nothing of this one.
      const worker = claimed.kind === "taken" ? claimed.worker : null;
      if (generation === heart.generation) share.claimed(worker, caller?.name ?? null);
      taken();
    }
    return claimed;
  }
}

/** What the script answered; null: the own record is lost, or others' are. */
function readClaimed(reply: unknown, { places }: Claim): Claimed | null {
  const [word, what = 0, remaining = -1, resetMs = 0] = reply as [string, (number | string)?, number?, number?];
  const allowance = remaining < 0 ? null : { remaining, resetMs };
  switch (word) {
    case "taken":
      return { kind: "taken", worker: places[Number(what)]?.worker ?? null, allowance };
    case "full":
      return { kind: "full", allowance };
    case "limited":
      if (what === "rate") return { kind: "limited", by: "rate", retryMs: resetMs };
      return { kind: "limited", by: "concurrent", retryMs: null };
    default:
      return null;
  }
}
