import { kindOfName, type Random, seededRandom } from "@farmgate/shared";
import type { Trace } from "../trace/types.ts";
import type { LanFarm } from "./farm.ts";

/**
 * What the built-in day is like: bursts of one model each, as agents, editors and build jobs send them, over a day
 * that is busiest in the afternoon. Tokens are spread log-normally around their medians.
 */
const DAY = {
  hours: 24,
  /** Requests of a burst, geometric around this mean, so many milliseconds apart on average. */
  burst: { mean: 6, gapMs: 400 },
  /** Of the bursts that chat: their requests are for two models, in any order, as an agent with two models asks. */
  mixedShare: 0.4,
  /** Of the bursts that chat, for the first model of the farm's file; of the rest as much for the next, and so on. */
  headShare: 0.5,
  /** Shares of the bursts for embeddings, if the farm has such a model. */
  embeddingShare: 0.15,
  chat: { input: 900, output: 180, spread: 0.9 },
  embedding: { input: 300, spread: 0.6 },
  /** The share of the peak at night. */
  night: 0.1,
  peakHour: 15,
};

/** In a sentence, for whoever reads the figures. */
export const DAY_WORDS =
  "a made-up day: bursts of about 6 requests for one model (15 % of them embeddings; of the others half for the first model of the file, " +
  "half of the rest for the next, and so on; 40 % of them ask two models by turns), busiest at 15:00 and a tenth of that " +
  "at night; prompts around 900 tokens, answers around 180";

/** A day of bursty mixed traffic for the models of the farm, seeded; about so many requests. */
export function builtInDay(farm: LanFarm, requests: number, seed: number): Trace {
  const random = seededRandom(seed);
  const names = modelNames(farm);
  const chats = names.filter(({ kind }) => kind !== "embeddings").map(({ name }) => name);
  const embedders = names.filter(({ kind }) => kind === "embeddings").map(({ name }) => name);
  const applications = [...chats, ...embedders];
  const rows: { at: number; app: number; input: number; output: number }[] = [];
  const bursts = Math.max(1, Math.round(requests / DAY.burst.mean));
  for (let burst = 0; burst < bursts; burst += 1) {
    let at = timeOfDay(random);
    const embeds = embedders.length > 0 && (chats.length === 0 || random() < DAY.embeddingShare);
    const app = embeds ? chats.length + Math.floor(random() * embedders.length) : headFirst(chats.length, random);
    const other = !embeds && random() < DAY.mixedShare ? headFirst(chats.length, random) : app;
    const size = 1 + Math.floor(Math.log(1 - random()) / Math.log(1 - 1 / DAY.burst.mean));
    for (let i = 0; i < size; i += 1) {
      const { input, spread } = embeds ? DAY.embedding : DAY.chat;
      const output = embeds ? 0 : around(DAY.chat.output, spread, random);
      rows.push({ at, app: random() < 0.5 ? app : other, input: around(input, spread, random), output });
      at += -Math.log(1 - random()) * DAY.burst.gapMs;
    }
  }
  rows.sort((a, b) => a.at - b.at);
  return {
    applications,
    at: Float64Array.from(rows, ({ at }) => at),
    app: Uint16Array.from(rows, ({ app }) => app),
    input: Uint32Array.from(rows, ({ input }) => input),
    output: Uint32Array.from(rows, ({ output }) => output),
  };
}

/** The models of the farm, in the order of its file. */
function modelNames(farm: LanFarm): { name: string; kind: string }[] {
  const seen = new Map<string, { name: string; kind: string }>();
  for (const worker of farm.workers) {
    const models = worker.kind === "agent" ? worker.models.map(({ served }) => served) : worker.options.models;
    for (const { name, kind } of models) if (!seen.has(name)) seen.set(name, { name, kind: kindOf(name, kind) });
  }
  return [...seen.values()];
}

function kindOf(name: string, told: string | null): string {
  const kind = told === null || told === "chat" ? kindOfName(name) : told;
  return kind === "embedding" ? "embeddings" : kind;
}

function headFirst(count: number, random: Random): number {
  let place = 0;
  while (place < count - 1 && random() >= DAY.headShare) place += 1;
  return place;
}

/** Milliseconds from midnight; hours are as likely as a cosine around the peak hour says. */
function timeOfDay(random: Random): number {
  for (;;) {
    const hour = random() * DAY.hours;
    const share = (1 + Math.cos(((hour - DAY.peakHour) / 24) * 2 * Math.PI)) / 2;
    if (random() < DAY.night + (1 - DAY.night) * share) return hour * 3_600_000;
  }
}

function around(median: number, spread: number, random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.max(1, Math.round(median * Math.exp(spread * normal)));
}
