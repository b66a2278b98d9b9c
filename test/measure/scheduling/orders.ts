// The ways to choose who goes next that are compared. Pure.
import { byDeadline, type Job, LstImh, type Machine, MooreHodgson, timeAt } from "@farmgate/gateway/policies";
import type { Request } from "./instances.ts";

/** For each instance the position of what it begins, of what waits in the order `byDeadline`; -1: nothing. */
type Pick = (waiting: readonly Request[], instances: readonly Machine[], now: number) => ArrayLike<number>;

export interface Order {
  name: string;
  /** What cannot be on time any more is refused; else it is served all the same. */
  refuses: boolean;
  pick(): Pick;
}

export const LST_IMH: Order = { name: "LST-IMH", refuses: true, pick: lstImh };

export const ORDERS: readonly Order[] = [
  LST_IMH,
  { name: "own set only", refuses: true, pick: ownSet },
  { name: "latest first", refuses: true, pick: latestFirst },
  { name: "earliest deadline", refuses: true, pick: () => sorted(byDeadline) },
  { name: "shortest job", refuses: true, pick: () => sorted((a, b) => a.processing - b.processing) },
  { name: "arrival", refuses: true, pick: () => sorted((a, b) => a.arrivedAt - b.arrivedAt) },
  { name: "earliest deadline, all served", refuses: false, pick: () => sorted(byDeadline) },
  { name: "arrival, all served", refuses: false, pick: () => sorted((a, b) => a.arrivedAt - b.arrivedAt) },
];

function lstImh(): Pick {
  const lst = new LstImh();
  return (waiting, instances, now) => {
    lst.assign(waiting, instances, now);
    return lst.begins;
  };
}

/** Each ready instance keeps what it could serve alone, and begins the first of it. */
function ownSet(): Pick {
  const rule = new MooreHodgson();
  return (waiting, instances, now) => {
    const gone = new Uint8Array(waiting.length);
    return instances.map((instance) => {
      if (instance.availableAt > now || rule.keep(waiting, instance, gone) === 0) return -1;
      gone[rule.first] = 1;
      return rule.first;
    });
  };
}

/** The instances keep in turn, each time the latest at which the tightest job that is left is still feasible. */
function latestFirst(): Pick {
  const rule = new MooreHodgson();
  return (waiting, instances, now) => {
    const taken = new Uint8Array(waiting.length);
    const begins = instances.map(() => -1);
    const left = new Set(instances.keys());
    for (;;) {
      const at = latestFor(waiting, instances, taken, left);
      if (at === null) return begins;
      left.delete(at);
      const instance = instances[at];
      if (instance === undefined) return begins;
      rule.keep(waiting, instance, taken);
      for (const position of taken.keys()) taken[position] = Math.max(taken[position] ?? 0, rule.kept[position] ?? 0);
      if (instance.availableAt <= now) begins[at] = rule.first;
    }
  };
}

function latestFor(
  waiting: readonly Job[],
  instances: readonly Machine[],
  taken: Uint8Array,
  left: ReadonlySet<number>,
): number | null {
  for (const [position, job] of waiting.entries()) {
    if (taken[position] === 1) continue;
    let latest: number | null = null;
    for (const at of left) {
      const instance = instances[at];
      if (instance === undefined || instance.availableAt + timeAt(instance, job) > job.deadline) continue;
      if (latest === null || instance.availableAt > (instances[latest]?.availableAt ?? 0)) latest = at;
    }
    if (latest !== null) return latest;
  }
  return null;
}

function sorted(order: (a: Request, b: Request) => number): Pick {
  return (waiting, instances, now) => {
    const next = [...waiting.entries()].sort(([, a], [, b]) => order(a, b)).map(([position]) => position);
    return instances.map(({ availableAt }) => (availableAt <= now ? (next.shift() ?? -1) : -1));
  };
}
