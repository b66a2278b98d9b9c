import { kindOfName, type Random } from "@farmgate/shared";
import { chanceOf, exponential, logNormal } from "../trace/draws.ts";
import { TraceBuilder } from "../trace/trace-builder.ts";
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
  /** Tokens. */
  input: { median: 900, sigma: 0.9, most: 30_000 },
  output: { median: 180, sigma: 0.9, most: 4_000 },
  embedding: { median: 300, sigma: 0.6, most: 8_000 },
  /** The share of the peak at night. */
  night: 0.1,
  peakHour: 15,
};

/** In a sentence, for whoever reads the figures. */
export const DAY_WORDS =
  "a made-up day: bursts of about 6 requests for one model (15 % of them embeddings; of the others half for the first model of the file, " +
  "half of the rest for the next, and so on; 40 % of them ask two models by turns), busiest at 15:00 and a tenth of that " +
  "at night; prompts around 900 tokens, answers around 180";

export const AT_ONCE_WORDS =
  "made up, within a second: 15 % of them embeddings; of the others half for the first model of the file, half of the rest " +
  "for the next, and so on; prompts around 900 tokens, answers around 180";

/** So many requests for the models of the farm within a second, in any order, of the lengths of the built-in day. */
export function builtInBurst(farm: LanFarm, requests: number, seed: number): Trace {
  const random = chanceOf(seed, 1);
  const { chats, embedders } = modelNames(farm);
  const builder = new TraceBuilder();
  if (chats.length + embedders.length === 0) return builder.build();
  for (let i = 0; i < requests; i += 1) {
    const embeds = drawsEmbedding(chats, embedders, random);
    const app = builder.application(embeds ? anyOf(embedders, random) : headFirst(chats, random));
    builder.add({ at: 1_000 * random(), app, ...tokensOf(embeds, random) });
  }
  return builder.build();
}

/** A day of bursty mixed traffic for the models of the farm, seeded; about so many requests. */
export function builtInDay(farm: LanFarm, requests: number, seed: number): Trace {
  const random = chanceOf(seed, 0);
  const { chats, embedders } = modelNames(farm);
  const builder = new TraceBuilder();
  if (chats.length + embedders.length === 0) return builder.build();
  while (builder.length < requests) {
    let at = timeOfDay(random);
    const embeds = drawsEmbedding(chats, embedders, random);
    const first = embeds ? anyOf(embedders, random) : headFirst(chats, random);
    const other = !embeds && random() < DAY.mixedShare ? headFirst(chats, random) : first;
    const size = Math.ceil(Math.log(1 - random()) / Math.log(1 - 1 / DAY.burst.mean));
    for (let i = 0; i < Math.max(1, size); i += 1) {
      const app = builder.application(random() < 0.5 ? first : other);
      builder.add({ at, app, ...tokensOf(embeds, random) });
      at += DAY.burst.gapMs * exponential(random);
    }
  }
  return builder.build();
}

function drawsEmbedding(chats: readonly string[], embedders: readonly string[], random: Random): boolean {
  return embedders.length > 0 && (chats.length === 0 || random() < DAY.embeddingShare);
}

function tokensOf(embeds: boolean, random: Random): { input: number; output: number } {
  const input = logNormal(random, embeds ? DAY.embedding : DAY.input);
  return { input, output: embeds ? 0 : logNormal(random, DAY.output) };
}

/** The models of the farm, in the order of its file. */
function modelNames(farm: LanFarm): { chats: string[]; embedders: string[] } {
  const seen = new Map<string, { name: string; kind: string }>();
  for (const worker of farm.workers) {
    const models = worker.kind === "agent" ? worker.models.map(({ served }) => served) : worker.options.models;
    for (const { name, kind } of models) if (!seen.has(name)) seen.set(name, { name, kind: kindOf(name, kind) });
  }
  const named = (isEmbedder: boolean) =>
    [...seen.values()].filter(({ kind }) => (kind === "embeddings") === isEmbedder).map(({ name }) => name);
  return { chats: named(false), embedders: named(true) };
}

function kindOf(name: string, told: string | null): string {
  const kind = told === null || told === "chat" ? kindOfName(name) : told;
  return kind === "embedding" ? "embeddings" : kind;
}

function headFirst(names: readonly string[], random: Random): string {
  let place = 0;
  while (place < names.length - 1 && random() >= DAY.headShare) place += 1;
  return names[place] ?? "";
}

function anyOf(names: readonly string[], random: Random): string {
  return names[Math.floor(random() * names.length)] ?? "";
}

/** Milliseconds from midnight; hours are as likely as a cosine around the peak hour says. */
function timeOfDay(random: Random): number {
  for (;;) {
    const hour = random() * DAY.hours;
    const share = (1 + Math.cos(((hour - DAY.peakHour) / 24) * 2 * Math.PI)) / 2;
    if (random() < DAY.night + (1 - DAY.night) * share) return hour * 3_600_000;
  }
}
