import { formatDuration } from "@farmgate/shared";
import type { Trace } from "../trace/types.ts";
import {
  withAnother,
  withGateway,
  withKeptWarm,
  withMoreMemory,
  withOneMoreSlot,
  withQueues,
  withSpeeds,
} from "./change-farm.ts";
import type { LanFarm } from "./farm.ts";
import { replay, type ReplayOptions } from "./replay.ts";
import { summarize, type Summary, type SummaryOptions } from "./summary.ts";

/** One change to the farm. */
export interface Variation {
  words: string;
  /** A thing to buy, or a setting to change. */
  kind: "machine" | "setting";
  farm: LanFarm;
}

export interface Ranked extends Omit<Variation, "farm"> {
  /** Of all requests on average, a miss counted as long as its caller would have waited; below 0: it harms. */
  savedMs: number;
  loads: number;
  onTime: number;
}

/**
 * What a run is tried again with, at most about six for each worker and ten for the farm:
 *
 * 1. Each worker twice as fast; with disks twice as fast; with one more slot; with memory for one more model; and
 *    another one like it.
 * 2. One more warm copy of the model that is loaded most often, waiting weighed against loading or not, the queues in
 *    the other order, `maxWait` and `minResident` halved and doubled.
 */
export function variations(farm: LanFarm, summary: Summary): Variation[] {
  const machines = farm.workers.flatMap(({ config: { name } }): Variation[] => {
    const machine = (words: string, changed: LanFarm | null): Variation[] =>
      changed === null ? [] : [{ words, kind: "machine", farm: changed }];
    const loads = summary.workers.find((worker) => worker.name === name)?.loads ?? 0;
    const faster = withSpeeds(farm, name, (speed) => ({
      ...speed,
      promptTokensPerSecond: 2 * speed.promptTokensPerSecond,
      tokensPerSecond: 2 * speed.tokensPerSecond,
    }));
    const quicker = withSpeeds(farm, name, (speed) => ({ ...speed, loadMs: speed.loadMs / 2 }));
    return [
      ...machine(`${name} twice as fast`, faster),
      ...machine(`${name} with loads in half the time`, loads > 0 ? quicker : null),
      ...machine(`one more slot for each model of ${name}`, withOneMoreSlot(farm, name)),
      ...machine(`memory for one more model on ${name}`, loads > 0 ? withMoreMemory(farm, name) : null),
      ...machine(`a second machine like ${name}`, withAnother(farm, name)),
    ];
  });
  return [...machines, ...settings(farm, summary)];
}

function settings(farm: LanFarm, summary: Summary): Variation[] {
  const setting = (words: string, changed: LanFarm): Variation => ({ words, kind: "setting", farm: changed });
  const { waitOrSwap } = farm.gateway.routing;
  const all = [
    setting(
      `routing.waitOrSwap: ${!waitOrSwap}`,
      withGateway(farm, (gateway) => ({ ...gateway, routing: { ...gateway.routing, waitOrSwap: !waitOrSwap } })),
    ),
  ];
  const [most] = summary.models;
  if (most !== undefined) {
    const copies = (farm.gateway.models.keepWarm[most.model] ?? 0) + 1;
    all.push(setting(`models.keepWarm of ${most.model}: ${copies}`, withKeptWarm(farm, most.model, copies)));
  }
  const queues = farm.workers.flatMap((worker) => (worker.kind === "agent" ? [worker.agent.queue] : []));
  const [first] = queues;
  if (first === undefined) return all;
  const isGreedy = queues.every(({ policy }) => policy === "greedy");
  const other = isGreedy ? "fifo" : "greedy";
  all.push(
    setting(
      `queue.policy: ${other}`,
      withQueues(farm, () => ({ policy: other })),
    ),
  );
  const resident = (factor: number) => (ms: number) => (ms === 0 && factor > 1 ? 5_000 : ms * factor);
  for (const factor of [0.5, 2]) {
    const wait = formatDuration(first.maxWait * factor);
    all.push(
      setting(
        `queue.maxWait: ${wait}`,
        withQueues(farm, ({ maxWait }) => ({ maxWait: maxWait * factor })),
      ),
    );
    const longer = resident(factor);
    if (longer(first.minResident) === first.minResident) continue;
    all.push(
      setting(
        `queue.minResident: ${formatDuration(longer(first.minResident))}`,
        withQueues(farm, ({ minResident }) => ({ minResident: longer(minResident) })),
      ),
    );
  }
  return all;
}

/** Tries each in virtual time; the one that saves the most waiting first. `tried` is told after each. */
export function whatWouldHelp(
  farm: LanFarm,
  trace: Trace,
  before: Summary,
  options: ReplayOptions & SummaryOptions,
  tried: () => void = () => {},
): Ranked[] {
  const ranked = variations(farm, before).map(({ words, kind, farm: changed }) => {
    const after = summarize(changed, trace, replay(changed, trace, options), options);
    tried();
    const savedMs = before.meanWaitWithMissesMs - after.meanWaitWithMissesMs;
    return { words, kind, savedMs, loads: after.loads, onTime: after.onTime };
  });
  return ranked.sort((a, b) => b.savedMs - a.savedMs);
}
