import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import { parseJson } from "@farmgate/shared";
import type { PolicyName, ScenarioName } from "@farmgate/simulator";
import {
  comparisonRows,
  markdownTable,
  Progress,
  type Report,
  runPolicy,
  type Scenario,
  type Trace,
  scenarioOf,
  TRACE_FILES,
} from "@farmgate/simulator/virtual";
import { CommandError, EXIT, usageError } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { openTraceFile } from "./open-trace-file.ts";
import { makeOut, writeOut } from "./out-folder.ts";

export interface ClusterOptions {
  cluster: ScenarioName;
  policy: PolicyName[];
  seed: number;
  scale: number;
  traces?: string;
  out?: string;
  json?: boolean;
}

/**
 * `farmgate simulate --cluster`: the policies one after the other, and a table of them. Each has a process of its own,
 * so that what one leaves in memory does not count for the next; one policy alone runs in this one.
 */
export async function simulateCluster(options: ClusterOptions, io: Io): Promise<number> {
  const { policy, out, json } = options;
  if (out !== undefined) await makeOut(out);
  const stop = new AbortController();
  if (policy.length > 1) {
    // What is wrong with the trace is said once, not by each run.
    await recordedOf(options);
    io.onSignal(() => stop.abort());
  }
  const reports: Report[] = [];
  for (const name of policy) {
    reports.push(
      policy.length === 1 ? await runHere(name, options, io) : await runInChild(name, options, io, stop.signal),
    );
  }
  if (out !== undefined) await writeOut(out, reports);
  const told = json === true ? `${JSON.stringify(reports)}\n` : markdownTable(comparisonRows(reports));
  io.stdout.write(told);
  return EXIT.ok;
}

async function runHere(name: PolicyName, options: ClusterOptions, io: Io): Promise<Report> {
  const scenario = await openScenario(options);
  const now = () => io.clock.now();
  const isTerminal = io.stderr.columns() !== null;
  const progress = new Progress(name, { write: (line) => io.stderr.write(line), isTerminal, now });
  const report = runPolicy(scenario, name, options.seed, {
    now,
    memory: () => io.memory(),
    onProgress: (ended, total) => progress.at(ended / total),
  });
  progress.done(report.attainment === null ? "" : `${(100 * report.attainment).toFixed(1)} % on time`);
  return report;
}

async function openScenario(options: ClusterOptions): Promise<Scenario> {
  const { cluster, seed, scale } = options;
  return scenarioOf(cluster, { seed, scale, recorded: await recordedOf(options) });
}

/** The public trace that a load replays; null: it replays none. */
async function recordedOf({ cluster, traces }: ClusterOptions): Promise<Trace | null> {
  const file = TRACE_FILES[cluster];
  if (file === undefined) return null;
  if (traces === undefined) throw usageError(`${cluster} replays ${file}: --traces says in which folder it is`);
  const { trace } = await openTraceFile(join(traces, file));
  return trace;
}

async function runInChild(name: PolicyName, options: ClusterOptions, io: Io, stop: AbortSignal): Promise<Report> {
  const { cluster, seed, scale, traces } = options;
  const [program, ...first] = io.self;
  const flags = ["--cluster", cluster, "--policy", name, "--seed", String(seed), "--scale", String(scale), "--json"];
  if (traces !== undefined) flags.push("--traces", traces);
  const child = spawn(program, [...first, "simulate", ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
    signal: stop,
    // Its work does not look up before it is done.
    killSignal: "SIGKILL",
  });
  child.stderr.on("data", (data: Buffer) => io.stderr.write(data.toString()));
  const ended = new Promise<number | null>((resolve, reject) => child.on("close", resolve).on("error", reject));
  const [printed, code] = await Promise.all([text(child.stdout), ended]).catch((error: Error) => {
    throw new CommandError(`the run of ${name} ${stop.aborted ? "was stopped" : `did not start: ${error.message}`}`);
  });
  const [report] = code === 0 ? (parseJson(printed) as Report[]) : [];
  if (report === undefined) throw new CommandError(`the run of ${name} ended with ${code ?? "a signal"}`);
  return report;
}
