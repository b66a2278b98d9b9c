import { nameKey } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import { type Asked, silentPairs } from "../routing/silence.ts";
import type { Call } from "./call.ts";

/** Between two looks at the requests under way, in milliseconds. */
const LOOK_MS = 1_000;

/** Tells the catalogue of pairs that are silent. One timer, which stands still while no request is under way. */
export class SilenceWatch {
  readonly #farm: () => Farm;
  #looks = false;

  constructor(farm: () => Farm) {
    this.#farm = farm;
  }

  /** A request has come. */
  watch(): void {
    if (this.#looks) return;
    this.#looks = true;
    this.#farm().clock.after(LOOK_MS, () => {
      this.#looks = false;
      const farm = this.#farm();
      const calls = farm.live.all();
      // Thousands of streams that flow cost no more than this look.
      if (calls.some(waitsForByte)) tellSilent(farm, calls);
      if (calls.length > 0) this.watch();
    });
  }
}

function waitsForByte({ attempt }: Call): boolean {
  return attempt !== null && attempt.lastDataAt === null;
}

function tellSilent({ catalog, firstBytes, clock }: Farm, calls: readonly Call[]): void {
  const silent = silentPairs(calls.flatMap(askedOf), catalog.current.workers, firstBytes, clock.now());
  for (const pair of silent) catalog.apply({ type: "silent", ...pair });
}

/** What of a request under way is judged; nothing where its caller has left, or it is to be a WebSocket. */
function askedOf(call: Call): Asked[] {
  const { worker, attempt, phase, sent } = call;
  const isAtWorker = phase === "asking" || phase === "answering";
  if (!isAtWorker || worker === null || attempt === null || sent === null) return [];
  if (call.goneError !== null || call.socket !== null) return [];
  const { firstByteFrom: since, lastDataAt } = attempt;
  const model = call.upstreamModel;
  const foundWarm = call.warmth === "warm";
  const headCame = phase === "answering";
  return [{ ...sent, worker, model, key: nameKey(model), since, foundWarm, headCame, lastDataAt }];
}
