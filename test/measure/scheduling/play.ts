// Requests that come to instances, in virtual time. Pure.
import { byDeadline, type Deadline, deadlineAt, earliestFinish, onMiss } from "@farmgate/gateway/policies";
import type { Request } from "./instances.ts";
import type { Order } from "./orders.ts";

export interface Played {
  request: Request;
  /** How it ended: by its first deadline, by a relaxed one, after its deadline, or not served. */
  end: "on time" | "relaxed" | "late" | "refused";
  /** Milliseconds from its arrival to its first byte, or to its refusal. */
  afterMs: number;
}

interface Waiting extends Request {
  request: Request;
  asked: Deadline;
}

/** All that came, in the order in which it ended. `relax`: who cannot be on time is queued again, at most twice. */
export function play(requests: readonly Request[], count: number, order: Order, relax = false): Played[] {
  const pick = order.pick();
  const instances = Array.from({ length: count }, () => ({ availableAt: 0, overhead: 0, slowness: 1 }));
  const played: Played[] = [];
  let waiting: Waiting[] = [];
  let next = 0;
  for (let now = 0; ; ) {
    for (let one = requests[next]; one !== undefined && one.arrivedAt <= now; one = requests[++next]) {
      waiting.push(arrived(one, relax));
    }
    for (const instance of instances) instance.availableAt = Math.max(instance.availableAt, now);
    if (order.refuses) waiting = waiting.flatMap((one) => kept(one, instances, now, played));
    waiting.sort(byDeadline);
    const begins = pick(waiting, instances, now);
    const begun = new Set<Waiting>();
    for (const [at, instance] of instances.entries()) {
      const one = waiting[begins[at] ?? -1];
      if (one === undefined) continue;
      begun.add(one);
      instance.availableAt = now + one.processing;
      played.push({
        request: one.request,
        end: endOf(one, instance.availableAt),
        afterMs: instance.availableAt - one.arrivedAt,
      });
    }
    waiting = waiting.filter((one) => !begun.has(one));
    const events = instances.map(({ availableAt }) => availableAt).filter((at) => at > now);
    const arrival = requests[next]?.arrivedAt;
    if (arrival !== undefined) events.push(arrival);
    if (events.length === 0) return played;
    now = Math.min(...events);
  }
}

function arrived(request: Request, mayRelax: boolean): Waiting {
  const { arrivedAt, deadline } = request;
  return { ...request, request, asked: { arrivedAt, askedMs: deadline - arrivedAt, mayRelax, relaxed: 0 } };
}

function kept(one: Waiting, instances: Parameters<typeof earliestFinish>[1], now: number, played: Played[]): Waiting[] {
  const finish = earliestFinish(one, instances);
  if (finish <= one.deadline) return [one];
  const missed = onMiss(one.asked, finish, one.processing);
  if (missed.kind === "relaxed") return [{ ...one, asked: missed.deadline, deadline: deadlineAt(missed.deadline) }];
  played.push({ request: one.request, end: "refused", afterMs: now - one.arrivedAt });
  return [];
}

function endOf({ request, deadline }: Waiting, at: number): Played["end"] {
  if (at <= request.deadline) return "on time";
  return at <= deadline ? "relaxed" : "late";
}
