/**
 * Where a model is, for one worker: `active` on its devices, `warm` in its host's memory (or the page cache), `cold` on
 * its disk, `absent`: it would have to be fetched first.
 */
export type Temperature = "active" | "warm" | "cold" | "absent";

export interface Copy {
  worker: string;
  temperature: Temperature;
}

/** A way over which weights can come, as measured. */
export interface Link {
  bytesPerSecond: number;
  /** Until what is on it now is through, in milliseconds. */
  waitMs: number;
}

/** The ways to one worker. A way that is not known is left out. */
export interface LinksTo {
  /** From its host's memory to its devices. */
  host?: Link;
  disk?: Link;
  /** From another worker's devices or memory, by its name. */
  peers: ReadonlyMap<string, Link>;
}

export interface WayUp {
  kind: "host" | "peer" | "disk";
  /** The worker that it comes from. */
  from: string;
  /** Until the model is active. */
  ms: number;
}

/**
 * The way by which a model of `bytes` is active soonest on the worker: wait + bytes / rate is least. Its host's memory
 * where it is warm; another worker that has it active or warm; its disk where it is there at all. Of equals in this
 * order, since each lays less on others than the next, and of peers the first by name. Null: none of them has it.
 */
export function cheapestWayUp(bytes: number, worker: string, copies: readonly Copy[], links: LinksTo): WayUp | null {
  const own = copies.find((copy) => copy.worker === worker)?.temperature ?? "absent";
  const ways: WayUp[] = [];
  const add = (kind: WayUp["kind"], from: string, link: Link | undefined) => {
    if (link !== undefined && link.bytesPerSecond > 0) ways.push({ kind, from, ms: throughMs(bytes, link) });
  };
  if (own === "active" || own === "warm") add("host", worker, links.host);
  const others = copies.filter((copy) => copy.worker !== worker).sort((a, b) => (a.worker < b.worker ? -1 : 1));
  for (const copy of others) {
    if (copy.temperature === "active" || copy.temperature === "warm")
      add("peer", copy.worker, links.peers.get(copy.worker));
  }
  if (own !== "absent") add("disk", worker, links.disk);
  let best: WayUp | null = null;
  for (const way of ways) if (best === null || way.ms < best.ms) best = way;
  return best;
}

/** Milliseconds until as many bytes are through. */
export function throughMs(bytes: number, { bytesPerSecond, waitMs }: Link): number {
  return waitMs + (bytes / bytesPerSecond) * 1_000;
}

export interface IdleRules {
  /** Nothing goes down before it was idle for so long, in milliseconds. */
  holdMs: number;
  /** Nor before it was idle for so many times the time that it takes to come up again. */
  reloads: number;
}

/**
 * How long a model is kept where it is without a request, in milliseconds. Always longer than it takes to come up again,
 * or a model that is asked for now and then would spend its time loading.
 */
export function idleHold(reloadMs: number, { holdMs, reloads }: IdleRules): number {
  return Math.max(holdMs, reloadMs * Math.max(1, reloads) + 1);
}

/**
 * Where a model that was last asked for `idleMs` ago belongs:
 *
 * 1. Active, and idle for longer than the hold for coming back from memory: warm; from disk, where memory has no room.
 * 2. Warm, and idle for longer than both holds, that for coming back from disk too: cold.
 * 3. Else where it is. A file is never taken off a disk.
 */
export function restingPlace(
  now: Temperature,
  idleMs: number,
  reload: { fromHostMs: number; fromDiskMs: number },
  hasHostRoom: boolean,
  rules: IdleRules,
): Temperature {
  const toWarm = idleHold(reload.fromHostMs, rules);
  const toCold = idleHold(reload.fromDiskMs, rules);
  // 1
  if (now === "active" && hasHostRoom && idleMs >= toWarm) return "warm";
  if (now === "active" && !hasHostRoom && idleMs >= toCold) return "cold";
  // 2
  if (now === "warm" && idleMs >= toWarm + toCold) return "cold";
  // 3
  return now;
}
