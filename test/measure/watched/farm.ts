// A farm in which something of everything happens, with Prometheus over it.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";
import type { Children } from "../../bench/process/children.ts";
import { freePorts } from "../../harness/free-ports.ts";
import { PROMETHEUS } from "../../observe/queries.ts";
import { until } from "../../harness/until.ts";
import { answers, type Program, startEngine, startProgram } from "../../soak/farm/programs.ts";
import { api } from "./evaluate.ts";
import { areTogether } from "../together/gateways.ts";

const SWAP = fileURLToPath(new URL("../../../cli/demo/swap.mjs", import.meta.url));
/** A key without limits, and one that is soon at its own. */
export const KEYS = { all: "k-all-0123456789", few: "k-few-0123456789" };
const BIG = "--models coder,writer --loaded coder --max-loaded 1 --no-autoload --load 700ms --slots 2";
const SPEED = "--tokens-per-second 60 --prompt-speed 0";
/** Breaks a quarter of its streams, and answers some requests with an error of its own, also for a model of its alone. */
const SICK = "--models small,rare --loaded small,rare --slots 2 --fail reset-after-300-bytes%25 status-500%25";

export interface WatchedFarm {
  gateways: readonly string[];
  prometheus: string;
}

interface PrometheusConfig {
  global: object;
  rule_files: string[];
  scrape_configs: {
    job_name: string;
    authorization?: object;
    static_configs: { targets: string[]; labels: Record<string, string> }[];
  }[];
}

/**
 * A machine with two models that must be swapped, one with a small model and one that is sick with the same, one with
 * embeddings and a cap, behind two gateways that act as one over `redis`; without it behind one. Prometheus looks each
 * second, with the configuration and the rules of deploy/.
 */
export async function startWatchedFarm(children: Children, redis: string | null): Promise<WatchedFarm> {
  const [gpu = 0, mac = 0, port = 0, ...more] = await freePorts(redis === null ? 8 : 9);
  const [big = 0, small = 0, sick = 0, vectors = 0, ...doors] = more;
  // One after the other: on a busy machine all at once would take each too long.
  await startEngine(children, "big", big, `${BIG} ${SPEED}`);
  await startEngine(children, "small", small, `--models small --loaded small --slots 2 ${SPEED}`);
  await startEngine(children, "sick", sick, `${SPEED} ${SICK}`);
  await startEngine(children, "vectors", vectors, "--models spare --embedding vectors --loaded vectors --slots 1");
  const swap = { command: `${process.execPath} ${SWAP}`, poll: "100ms", timeout: "30s" };
  const served = (names: readonly string[], at: number) =>
    names.map((name) => ({ name, url: urlOf(at), ready: "models", slots: 2, memory: "4gb" }));
  await startProgram(children, "agent", "gpu-box", {
    name: "gpu-box",
    listen: { port: gpu },
    swap,
    queue: { maxWait: "5s" },
    models: served(["coder", "writer"], big),
  } as { listen: { port: number } });
  await startProgram(children, "agent", "mac", {
    name: "mac",
    listen: { port: mac },
    swap,
    models: served(["small"], small),
  } as { listen: { port: number } });
  const gateways = await startGateways(children, doors, redis, [
    { name: "gpu-box", url: urlOf(gpu), engine: "agent" },
    { name: "mac", url: urlOf(mac), engine: "agent" },
    { name: "old-mac", url: urlOf(sick), engine: "llama-server" },
    { name: "cpu-box", url: urlOf(vectors), engine: "llama-server", maxConcurrent: 1 },
  ]);
  const prometheus = await startPrometheus(children, port, gateways, { "gpu-box": gpu, mac });
  const seen = async () => {
    const { activeTargets } = await api<{ activeTargets: { health: string }[] }>(prometheus, "targets", {});
    return activeTargets.length > 0 && activeTargets.every(({ health }) => health === "up");
  };
  await until(seen, "Prometheus has scraped all of them");
  return { gateways: gateways.map(({ url }) => url), prometheus };
}

async function startGateways(
  children: Children,
  ports: readonly number[],
  redis: string | null,
  workers: readonly object[],
): Promise<Program[]> {
  const config = {
    health: { interval: "1s" },
    workers,
    keys: Object.entries(KEYS).map(([name, key]) => ({ name, key, requestsPerMinute: name === "few" ? 10 : 0 })),
    ...(redis !== null && { redis }),
  };
  const name = (i: number) => (redis === null ? "gateway" : `gateway-${i + 1}`);
  const gateways = await Promise.all(
    ports.map((port, i) => startProgram(children, "gateway", name(i), { listen: { port }, ...config })),
  );
  if (redis !== null) await until(() => areTogether(gateways), "the gateways hear each other");
  return gateways;
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

async function startPrometheus(
  children: Children,
  port: number,
  gateways: readonly Program[],
  agents: Readonly<Record<string, number>>,
): Promise<string> {
  if (spawnSync("prometheus", ["--version"]).status !== 0) {
    throw new Error("Prometheus is not installed: apt-get install prometheus");
  }
  const config = parse(readFileSync(`${PROMETHEUS}prometheus.yml`, "utf8")) as PrometheusConfig;
  const key = join(children.folder, "farmgate.key");
  writeFileSync(key, KEYS.all);
  config.global = { scrape_interval: "1s", evaluation_interval: "1s" };
  config.rule_files = [`${PROMETHEUS}rules.yml`];
  for (const job of config.scrape_configs) {
    if (job.job_name === "farmgate-gateway") {
      job.authorization = { credentials_file: key };
      job.static_configs = gateways.map(({ name, url }) => ({
        targets: [new URL(url).host],
        labels: { instance: name },
      }));
    } else {
      job.static_configs = Object.entries(agents).map(([worker, at]) => ({
        targets: [`127.0.0.1:${at}`],
        labels: { worker },
      }));
    }
  }
  const file = join(children.folder, "prometheus.yml");
  writeFileSync(file, stringify(config));
  const data = join(children.folder, "prometheus-data");
  mkdirSync(data);
  const child = children.spawn("prometheus", "prometheus", [
    `--config.file=${file}`,
    `--storage.tsdb.path=${data}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--log.level=warn",
  ]);
  const url = urlOf(port);
  await answers(`${url}/-/ready`, () => {
    if (!children.isRunning(child)) throw new Error(`Prometheus ended at once:\n${children.lastLines(child)}`);
  });
  return url;
}
