import { isDeepStrictEqual } from "node:util";
import { plainText } from "@farmgate/shared";
import {
  AT_ONCE_WORDS,
  baselines,
  builtInBurst,
  builtInDay,
  DAY_WORDS,
  type LanFarm,
  lanReport,
  type NamedFarm,
  Progress,
  type Ranked,
  readFarm,
  replay,
  summarize,
  type Summary,
  type Trace,
  variations,
  whatWouldHelp,
} from "@farmgate/simulator/virtual";
import { checkFarm } from "../config/farm-schema.ts";
import { checked, openConfig } from "../config/open-config.ts";
import { EXIT, usageError } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { openTraceFile } from "./open-trace-file.ts";
import { makeOut, writeOut } from "./out-folder.ts";
import { someOf } from "./some-of.ts";
import { renderSimulation } from "./render.ts";

/** Of a trace: what happens between its requests is replayed too. */
const MOST_DAYS = 366;
const DAY_MS = 86_400_000;

export interface FarmOptions {
  farm: string;
  trace?: string;
  model?: string;
  whatIf?: string;
  requests: number;
  atOnce?: boolean;
  seed: number;
  /** Milliseconds. */
  target: number;
  patience: number;
  advice: boolean;
  out?: string;
  json?: boolean;
}

interface Run {
  name: string;
  summary: Summary;
}

/** All that a simulation tells. */
export interface Simulation {
  farm: string;
  /** Where the requests come from, in words. */
  traffic: string;
  seed: number;
  notes: readonly string[];
  /** Names that nothing in the farm has, with how often each was asked for. */
  unknown: readonly { name: string; requests: number }[];
  configured: Summary;
  baselines: readonly Run[];
  whatIf: Run | null;
  advice: readonly Ranked[];
  /** Files that were written. */
  written: readonly string[];
}

/** `farmgate simulate --farm`: exit code 2 where there is nothing to replay. */
export async function simulateFarm(options: FarmOptions, io: Io): Promise<number> {
  if (options.out !== undefined) await makeOut(options.out);
  const first = await openFarm(options.farm, io);
  const other = options.whatIf === undefined ? null : await openFarm(options.whatIf, io);
  const { trace, traffic, notes } = await trafficOf(options, first.farm);
  const settings = { seed: options.seed, callerTimeoutMs: options.patience, targetMs: options.target };
  const farms: NamedFarm[] = [
    { name: "as configured", farm: first.farm },
    ...baselines(first.farm, trace, options.target),
    ...(other === null ? [] : [{ name: `what if: ${options.whatIf}`, farm: other.farm }]),
  ];
  const runs = farms.map(({ name, farm }) => {
    const run = replay(farm, trace, settings);
    return { name, summary: summarize(farm, trace, run, settings), run };
  });
  const [configured, ...others] = runs;
  if (configured === undefined) throw usageError("there is nothing to replay");
  const unknown = unknownNames(trace, (request) => configured.run.ledger.isUnknown(request));
  if (configured.summary.unknown === trace.at.length) throw allUnknown(options, unknown, first.farm);
  const whatIf = other === null ? null : (others.pop() ?? null);
  // What is configured so says nothing twice.
  const isOther = ({ summary }: Run) => !isDeepStrictEqual(summary, configured.summary);
  const reports = () => runs.map(({ name, run }) => lanReport(name, trace, run, options.target));
  const written = options.out === undefined ? [] : await writeOut(options.out, reports());
  const advice = options.advice ? adviceOn(first.farm, trace, configured.summary, settings, io) : [];
  const simulation: Simulation = {
    farm: options.farm,
    traffic,
    seed: options.seed,
    notes: [...first.notes, ...(other?.notes.map((note) => `${options.whatIf}: ${note}`) ?? []), ...notes],
    unknown,
    configured: configured.summary,
    baselines: others.filter(isOther).map(({ name, summary }) => ({ name, summary })),
    whatIf: whatIf && { name: whatIf.name, summary: whatIf.summary },
    advice,
    written,
  };
  if (options.json === true) io.stdout.write(`${JSON.stringify(simulation)}\n`);
  else
    io.stdout.write(renderSimulation(simulation, options.out ?? "", io.stdout.columns() ?? Number.POSITIVE_INFINITY));
  return EXIT.ok;
}

async function openFarm(file: string, io: Io): Promise<{ farm: LanFarm; notes: readonly string[] }> {
  const opened = await openConfig(file, io.env);
  if (opened.kind !== "farm") throw usageError(`${file} is no farm file, with \`agents\` and a \`gateway\``);
  const read = readFarm(checked(opened, checkFarm(opened.document)));
  if (read.farm.workers.length === 0) throw usageError(`${file} has no worker to simulate:\n${read.notes.join("\n")}`);
  return read;
}

async function trafficOf(
  options: FarmOptions,
  farm: LanFarm,
): Promise<{ trace: Trace; traffic: string; notes: readonly string[] }> {
  const { trace: file, model, requests, atOnce, seed } = options;
  if (file === undefined && atOnce === true) {
    return { trace: builtInBurst(farm, requests, seed), traffic: AT_ONCE_WORDS, notes: [] };
  }
  if (file === undefined) return { trace: builtInDay(farm, requests, seed), traffic: DAY_WORDS, notes: [] };
  const named = model === undefined ? {} : { application: model };
  const read = await openTraceFile(file, named);
  const spanMs = read.trace.at.at(-1);
  if (spanMs === undefined) throw usageError(`${file} has no requests`);
  if (spanMs > MOST_DAYS * DAY_MS) {
    throw usageError(`${file} lasts ${Math.ceil(spanMs / DAY_MS)} days; at most ${MOST_DAYS} are replayed`);
  }
  return { trace: read.trace, traffic: file, notes: read.notes };
}

function unknownNames({ applications, app }: Trace, isUnknown: (request: number) => boolean): Simulation["unknown"] {
  const counts = new Map<string, number>();
  for (const [i, one] of app.entries()) {
    if (!isUnknown(i)) continue;
    const name = applications[one] ?? "";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, requests]) => ({ name, requests })).sort((a, b) => b.requests - a.requests);
}

function allUnknown({ farm, trace }: FarmOptions, unknown: Simulation["unknown"], { workers }: LanFarm) {
  const asked = someOf(unknown.map(({ name }) => plainText(name)));
  const models = workers.flatMap((worker) =>
    worker.kind === "agent" ? worker.models.map(({ served }) => served.name) : [...worker.speeds.keys()],
  );
  const has = someOf([...new Set(models)]) || "no models";
  return usageError(
    `nothing in ${farm} has a model of ${trace ?? "the trace"}, which asks for ${asked}; the farm has ${has}` +
      " (`models.aliases` of its gateway, or --model for a trace without names, bring the two together)",
  );
}

function adviceOn(
  farm: LanFarm,
  trace: Trace,
  before: Summary,
  settings: Parameters<typeof whatWouldHelp>[3],
  io: Io,
): Ranked[] {
  const all = variations(farm, before).length;
  const isTerminal = io.stderr.columns() !== null;
  const write = (text: string) => void (isTerminal && io.stderr.write(text));
  const progress = new Progress("trying what would help", { write, isTerminal, now: () => io.clock.now() });
  let tried = 0;
  const ranked = whatWouldHelp(farm, trace, before, settings, () => {
    tried += 1;
    progress.at(tried / all);
  });
  progress.done();
  return ranked;
}
