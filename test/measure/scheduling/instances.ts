// Random requests for the scheduling figures. Pure.
import { type Random, seededRandom } from "@farmgate/shared";

/** Times in milliseconds. */
export interface Request {
  arrivedAt: number;
  /** What an instance takes for it, known beforehand. */
  processing: number;
  /** Its first deadline. */
  deadline: number;
}

export interface Shape {
  name: string;
  instances: number;
  /** How many times what the instances can do is asked for while requests come. */
  load: number;
  lengths: "even" | "long tail";
  /** All of them are there from the beginning; then the load says how tight the deadlines are. */
  atOnce: boolean;
}

const INSTANCES = [1, 2, 4, 8];
const LOADS = [1.2, 2];

export const SHAPES: readonly Shape[] = (["even", "long tail"] as const).flatMap((lengths) =>
  [false, true].flatMap((atOnce) =>
    LOADS.flatMap((load) =>
      INSTANCES.map((instances) => {
        const name = `${instances}, ${lengths}, ${load}x${atOnce ? ", at once" : ""}`;
        return { name, instances, load, lengths, atOnce };
      }),
    ),
  ),
);

const REQUESTS = 80;

/** In order of arrival. */
export function requestsOf({ instances, load, lengths, atOnce }: Shape, seed: number): Request[] {
  const random = seededRandom(seed);
  const times = Array.from({ length: REQUESTS }, () => (lengths === "even" ? even(random) : longTail(random)));
  const span = times.reduce((sum, time) => sum + time, 0) / instances / load;
  const requests = times.map((processing) => {
    const at = random() * span;
    // Half of the callers give all their requests five seconds, half what they are used to for the length.
    const patience = random() < 0.5 ? 5_000 : 1_000 + processing * (1 + 3 * random());
    return atOnce
      ? { arrivedAt: 0, processing, deadline: processing + at }
      : { arrivedAt: at, processing, deadline: at + patience };
  });
  return requests.sort((a, b) => a.arrivedAt - b.arrivedAt);
}

function even(random: Random): number {
  return 200 + 1_800 * random();
}

/** Log-normal about 400 ms, cut at 20 s: a few prompts are fifty times as long as the others. */
function longTail(random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.min(20_000, 400 * Math.exp(1.3 * normal));
}
