import type { Farm } from "../farm.ts";
import type { ProcessFigures } from "../metrics.ts";
import type { OwnCounts } from "./hub.ts";

/** So long the figures of a process that is busy are waited for, in milliseconds. */
const ASK_MS = 1_000;

const NOTHING: OwnCounts = { counts: () => new Map(), callers: () => new Map() };

/** What a process has to do at this moment. */
interface Load {
  inflight: number;
  waiting: number;
}

/** Lets the other processes of this host ask this one for its figures. */
export async function meetSiblings(farm: Farm): Promise<void> {
  const { siblings, hub } = farm;
  siblings.onQuestion(({ kind }) => {
    if (kind === "metrics") return ownFigures(farm);
    return kind === "load" ? ownLoad(farm) : undefined;
  });
  // Places are counted at the other one alone.
  if (siblings !== hub) await siblings.start(NOTHING);
}

/** Prometheus text of all processes of this host together. */
export async function metricsOfAll(farm: Farm): Promise<string> {
  const answers = await farm.siblings.ask({ kind: "metrics" }, ASK_MS);
  farm.accounts.settle();
  return farm.metrics.text([...answers.values()] as ProcessFigures[]);
}

/** What all processes of this host have to do. */
export async function loadOfAll(farm: Farm): Promise<Load> {
  const answers = await farm.siblings.ask({ kind: "load" }, ASK_MS);
  const all = [ownLoad(farm), ...(answers.values() as Iterable<Load>)];
  const sum = (of: (load: Load) => number) => all.reduce((total, load) => total + of(load), 0);
  return { inflight: sum(({ inflight }) => inflight), waiting: sum(({ waiting }) => waiting) };
}

function ownFigures(farm: Farm): Promise<ProcessFigures> {
  farm.accounts.settle();
  return farm.metrics.figures();
}

function ownLoad({ inflight, waitingRoom, deadlineQueue }: Farm): Load {
  return { inflight: inflight.ownTotal(), waiting: waitingRoom.size + deadlineQueue.size };
}
