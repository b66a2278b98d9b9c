import type { CatalogPoller } from "../catalog/poller.ts";
import type { Farm } from "../farm.ts";
import { readRegistered } from "../registry/read-registered.ts";
import { farmRequest, queuePlaces } from "../routes/farm-views.ts";
import type { Question, SharedState } from "./news.ts";
import { readDrains, type ReadNews, readNews } from "./read-news.ts";
import { ASK_MS, cancelHere } from "./requests.ts";
import { SharedCatalog } from "./shared-catalog.ts";

/**
 * Tells the gateways that act as one with this one what it sees, and takes what they tell. Resolves once it is among
 * them, or when they could not be heard for a second.
 */
export async function joinOthers(farm: Farm, poller: CatalogPoller): Promise<void> {
  const { hub, log } = farm;
  if (!hub.isShared) return hub.start(farm.inflight);
  const catalog = new SharedCatalog({ clock: farm.clock, hub, catalog: farm.catalog, poller });
  hub.onNews((value, from) => {
    const news = readNews(value);
    if (news !== null) take(farm, catalog, news, from);
  });
  hub.onQuestion((question) => answer(farm, question));
  let trouble = hub.trouble;
  hub.onChange(() => {
    const isBack = trouble !== null && hub.trouble === null;
    trouble = hub.trouble;
    if (isBack) void catchUp(farm);
  });
  await hub.start(farm.inflight);
  const { trouble: why } = hub;
  if (why === null) log.info({ gateway: hub.id, members: hub.members().length }, "acts as one with the other gateways");
}

/** Asks for what was missed, and takes what is newer than what is known here; those who know may not answer in time. */
export async function catchUp({ hub, drains, registrar }: Farm): Promise<void> {
  const answers = await hub.ask({ kind: "state" }, ASK_MS);
  for (const state of answers.values()) for (const note of readDrains(state)) drains.take(note);
  const registered = [...answers].flatMap(([from, state]) => readRegistered(state).map((worker) => ({ worker, from })));
  await Promise.all(registered.map(({ worker, from }) => registrar.told(worker, from)));
}

function take(farm: Farm, catalog: SharedCatalog, news: ReadNews, from: string): void {
  const now = farm.clock.now();
  const isKnown = (worker: string) => farm.catalog.current.workers.some(({ config }) => config.name === worker);
  switch (news.kind) {
    case "catalog":
    case "polled":
      catalog.take(news, from);
      break;
    case "drain": {
      const { worker, draining } = news.note;
      const words = draining ? "worker drained at another gateway" : "worker resumed at another gateway";
      if (farm.drains.take(news.note)) farm.log.info({ worker }, words);
      break;
    }
    case "answered-prefix":
      if (isKnown(news.worker)) farm.affinity.told(news.hash, news.worker);
      break;
    case "learned":
      if (isKnown(news.worker)) farm.learned.answered(news.worker, news.key, news.answer);
      break;
    case "rated":
      if (isKnown(news.worker)) farm.pairRates.answered(news.worker, news.key, news.answer, now);
      break;
    case "first-byte":
      if (isKnown(news.asked.worker)) farm.firstBytes.answered(news.asked, news.ms, now - news.ageMs);
      break;
    case "asked":
      if (farm.catalog.current.union.has(news.key)) farm.use.takeAsked(news.key);
      break;
    case "ended":
      if (farm.catalog.current.union.has(news.key)) farm.placement.ended(news.key, news.figures, news.usage);
      break;
  }
}

function answer(farm: Farm, question: Question): unknown {
  switch (question.kind) {
    case "state":
      return { drains: farm.drains.notes(), registered: farm.registrar.shared() } satisfies SharedState;
    case "requests": {
      const placeOf = queuePlaces(farm.catalog.current, farm.clock.now());
      const wall = farm.clock.wall();
      return farm.live.all().map((live) => farmRequest(live, placeOf(live), wall));
    }
    case "cancel":
      return cancelHere(farm.live, question.id, question.by) || undefined;
    case "metrics":
    case "load":
      return undefined;
  }
}
