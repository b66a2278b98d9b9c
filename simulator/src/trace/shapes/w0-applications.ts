import type { Random } from "@farmgate/shared";
import { chanceOf } from "../draws.ts";
import type { LoadedApplication } from "./types.ts";
import { zipfShares } from "./zipf.ts";

/** Published: so many applications of so many base models; 12 % of them have 80 % of the requests. */
const W0_APPLICATIONS = 62;
const W0_BASE_MODELS = 9;
const HEAD = Math.round(0.12 * W0_APPLICATIONS);
const HEAD_SHARE = 0.8;
/** Not published: how uneven the few are among themselves (24 % to 6 %), and the many (3 % to 0.1 %). */
const HEAD_EXPONENT = 0.7;
const TAIL_EXPONENT = 0.8;

/**
 * Not published. The published capacity of a replica grows by 10,700 tokens a second, and TTFT is 57.5, 161 and 395 ms
 * at p50, p90 and p99. Were all of that prefill, prompts would have 600, 1,700 and 4,200 tokens there: a log-normal with
 * a median of 600 and a sigma of 0.8, of which the applications' own medians have a half.
 */
const INPUT = { median: 600, across: 0.4, within: 0.7, most: 32_768 };
/** The median of the Azure conversation trace, and near its spread. */
const OUTPUT = { median: 129, across: 0.4, within: 0.8, most: 4_096 };

/**
 * Not published but for "seconds-long". What many callers share is smoother than what few do: three times the rate for
 * the few large applications, eight times for each of the many. A tenth of the time lies in bursts.
 */
const BURST = { meanMs: 5_000, leastMs: 1_000, gapMs: 45_000 };
const HEAD_FACTOR = 3;
const TAIL_FACTOR = 8;

/** What is dealt is the same in all runs; another seed deals anew. */
const DEAL_SEED = 62;

/**
 * The applications of W0, the most asked first. Base models are dealt as cards: a shuffled deck of all nine to the
 * first nine applications, another to the next nine, so that the large ones have different models. Medians of lengths
 * are evenly spaced quantiles, dealt to the large and to the small ones apart, so that no seed makes a heavy load.
 */
export function w0Applications(seed = DEAL_SEED): LoadedApplication[] {
  const tail = W0_APPLICATIONS - HEAD;
  const shares = [
    ...zipfShares(HEAD, HEAD_EXPONENT).map((share) => share * HEAD_SHARE),
    ...zipfShares(tail, TAIL_EXPONENT).map((share) => share * (1 - HEAD_SHARE)),
  ];
  const random = chanceOf(seed, 0);
  const models = Array.from({ length: Math.ceil(W0_APPLICATIONS / W0_BASE_MODELS) }, () =>
    shuffled(
      Array.from({ length: W0_BASE_MODELS }, (_, i) => i),
      random,
    ),
  ).flat();
  const inputs = [...medians(INPUT, HEAD, random), ...medians(INPUT, tail, random)];
  const outputs = [...medians(OUTPUT, HEAD, random), ...medians(OUTPUT, tail, random)];
  return shares.map((share, i) => ({
    name: `app-${String(i + 1).padStart(2, "0")}`,
    baseModel: models[i] ?? 0,
    share,
    input: { median: inputs[i] ?? INPUT.median, sigma: INPUT.within, most: INPUT.most },
    output: { median: outputs[i] ?? OUTPUT.median, sigma: OUTPUT.within, most: OUTPUT.most },
    burst: { ...BURST, factor: i < HEAD ? HEAD_FACTOR : TAIL_FACTOR },
  }));
}

function medians({ median, across }: { median: number; across: number }, count: number, random: Random): number[] {
  const spaced = Array.from({ length: count }, (_, i) => median * Math.exp(across * normalQuantile((i + 0.5) / count)));
  return shuffled(spaced, random);
}

/** Of the normal distribution, within 0.01 between 0.5 % and 99.5 %. */
function normalQuantile(share: number): number {
  if (share < 0.5) return -normalQuantile(1 - share);
  return 5.5556 * (1 - ((1 - share) / share) ** 0.1186);
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const cards = [...list];
  for (let i = cards.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    [cards[i], cards[j]] = [cards[j] as T, cards[i] as T];
  }
  return cards;
}
