// The callers' process: holds a number of requests under way until it is told to stop.
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "@farmgate/shared";
import { nextAsk } from "./asks.ts";
import { call } from "./caller.ts";
import { count, emptyTally, type Tally } from "./tally.ts";

export type Order = { do: "start"; url: string; streams: number; seed: number } | { do: "stop" };
export type Report = { at: "ready" } | { at: "counted" | "ended"; tally: Tally; underWay: number };

/** The first requests come spread over so long. */
const RAMP_MS = 3_000;
const TELL_EVERY_MS = 1_000;

const tally = emptyTally();
const kept = new Agent({ keepAlive: true });
let underWay = 0;
/** No new requests. */
const stop = new AbortController();
const tell = (report: Report) => process.send?.(report);

async function hold(url: string, random: () => number, place: number): Promise<void> {
  for (let i = 0; !stop.signal.aborted; i += 1) {
    const asked = nextAsk(random, `request-${place}-${i}`);
    underWay += 1;
    const { verdict, about } = await call(url, asked, random() < 0.7 ? kept : false);
    underWay -= 1;
    count(tally, asked.kind, verdict, about);
    // Where everything is refused at once, nobody calls again without a pause.
    if (verdict.end !== "whole") await sleep(100);
  }
}

async function run({ url, streams, seed }: Extract<Order, { do: "start" }>): Promise<void> {
  const telling = setInterval(() => tell({ at: "counted", tally, underWay }), TELL_EVERY_MS);
  const callers = Array.from({ length: streams }, async (_, place) => {
    await sleep((place / streams) * RAMP_MS);
    await hold(url, seededRandom(seed * 1_000 + place), place);
  });
  await Promise.all(callers);
  clearInterval(telling);
  kept.destroy();
  tell({ at: "ended", tally, underWay });
}

process.on("message", (order: Order) => {
  if (order.do === "start") void run(order);
  else stop.abort();
});
process.once("disconnect", () => process.exit(0));
tell({ at: "ready" });
