// (e) Thousands of open streams with a chunk a second each: whether the gateway
// still answers at once, and what a stream takes of its memory.
import { openFilesLimit, residentKb } from "../process/proc-stat.ts";
import { median } from "../report/median.ts";
import { ask } from "../targets/target.ts";
import type { Target } from "../targets/target.ts";
import { pacedStreamBody, slowStreamBody } from "./bodies.ts";
import type { Bench, Scenario } from "./scenario.ts";

/** Open files of a gateway besides the two sockets of each stream. */
const OTHER_FILES = 256;
const WARMUP_STREAMS = 50;
/** Of the chunks that a window should see; with less the machine was not up to the work. */
const LEAST_SHARE = 0.9;

export const openStreams: Scenario = async (bench) => {
  // A process of its own: one that has served the other scenarios holds memory it would reuse.
  const gateway = await bench.freshGateway();
  try {
    return await measure(bench, gateway);
  } finally {
    await bench.end(gateway);
  }
};

export function affordableStreams(wanted: number, openFiles: number): number {
  return Math.max(0, Math.min(wanted, Math.floor((openFiles - OTHER_FILES) / 2)));
}

async function measure(bench: Bench, gateway: Target) {
  const { streams: wanted, probeEveryMs, ...times } = bench.plan.openStreams;
  const connections = affordableStreams(wanted, openFilesLimit(gateway.pid));
  if (connections < wanted) {
    bench.note(`Only ${connections} of ${wanted} open streams: the limit of open files is too low (ulimit -n).`);
  }
  const job = { kind: "held-streams" as const, port: gateway.port };
  const warmup = { connections: WARMUP_STREAMS, rampMs: 100, warmupMs: 0, windowMs: 1_000 };
  await bench.load.run({ ...job, ...warmup, body: pacedStreamBody });

  const before = residentKb(gateway.pid);
  let after = before;
  const probe = new LivezProbe(gateway.port, probeEveryMs);
  const outcome = await bench.load.run(
    { ...job, ...times, connections, body: slowStreamBody },
    {
      onOpen: () => probe.start(),
      onClose: () => {
        probe.stop();
        after = residentKb(gateway.pid);
      },
    },
  );
  bench.failures("open streams", gateway, outcome);
  const share = (outcome.events * 1_000) / outcome.ms / connections;
  if (share < LEAST_SHARE)
    bench.note(`Only ${Math.round(share * 100)} % of the chunks of the open streams came in time.`);
  if (probe.failures > 0) bench.note(`${probe.failures} calls of /livez failed beside the open streams.`);
  const ofGateway = (figure: string, value: number) => ({ figure, values: { [gateway.name]: value } });
  const inTime = { of: "value" as const, limit: 100, unit: "ms" };
  return [
    ofGateway(`/livez beside ${connections} streams, median, ms`, median(probe.answeredMs)),
    { ...ofGateway(`/livez beside ${connections} streams, slowest, ms`, Math.max(...probe.answeredMs)), guide: inTime },
    {
      ...ofGateway("memory per open stream, KB", (after - before) / connections),
      guide: { of: "value" as const, limit: 48, unit: "KB" },
    },
  ];
}

class LivezProbe {
  readonly answeredMs: number[] = [];
  failures = 0;
  readonly #port: number;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(port: number, everyMs: number) {
    this.#port = port;
    this.#everyMs = everyMs;
  }

  start(): void {
    this.#timer = setInterval(() => {
      ask(this.#port, "/livez").then(
        ({ status, ms }) => (status === 200 ? this.answeredMs.push(ms) : this.failures++),
        () => this.failures++,
      );
    }, this.#everyMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
