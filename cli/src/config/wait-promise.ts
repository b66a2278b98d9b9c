import { gatewayConfigSchema, type GatewayConfig } from "@farmgate/gateway";
import { checkDocument, type ConfigProblem, formatDuration, formatPath } from "@farmgate/shared";
import { type AgentConfig, agentConfigSchema, type ConfigPromise, promiseOf } from "@farmgate/worker-agent";
import { checkFarm } from "./farm-schema.ts";
import type { OpenedConfig } from "./open-config.ts";

export interface WaitPromises {
  /** One for each agent, in words. */
  lines: readonly string[];
  warnings: readonly ConfigProblem[];
}

/** What a gateway does whose file says nothing of it. */
const DEFAULTS = gatewayConfigSchema.parse({ workers: [] });
/** Beside a load that is so many times as long, `maxWait` is hardly a wait at all. */
const SHORT_WAIT = 10;
/** From there on `formatDuration` tells whole minutes, in milliseconds. */
const HOUR = 3_600_000;
/** Places with bounds of their own that are all named; of more the first ones and the last. */
const NAMED = 4;

/**
 * The longest that a request waits in the queue of each agent of a file without problems, and a warning where whoever waits
 * before that in a gateway would be refused too soon: in the farm file's, else in one that waits as long as most.
 */
export function waitPromises(opened: OpenedConfig): WaitPromises {
  const lines: string[] = [];
  const warnings: ConfigProblem[] = [];
  const { agents, gateway } = partsOf(opened);
  for (const { config, at } of agents) {
    const promise = promiseOf(config);
    if (config.queue.policy !== "greedy")
      lines.push(`${config.name}: queue.policy ${config.queue.policy} promises nothing`);
    if (promise === null) continue;
    lines.push(`${config.name}: ${inWords(promise, config)}`);
    const warn = (path: readonly PropertyKey[], message: string) =>
      warnings.push({ path: formatPath(path), line: opened.document.lineOf(path), message });
    const tooSoon = refusedTooSoon(promise, config.name, gateway);
    if (tooSoon !== null) warn(gateway === null ? [...at, "queue"] : ["gateway", "limits", "queueWait"], tooSoon);
    const { longestLoadMs, swapped } = promise;
    if (swapped.length > 0 && config.queue.maxWait * SHORT_WAIT < longestLoadMs) {
      const loads = formatDuration(longestLoadMs);
      warn(
        [...at, "queue", "maxWait"],
        `is short beside loads of up to ${loads}: nearly every request makes its model the next one`,
      );
    }
  }
  return { lines, warnings };
}

interface Parts {
  agents: readonly { config: AgentConfig; at: readonly PropertyKey[] }[];
  /** null: it stands in a file of its own. */
  gateway: GatewayConfig | null;
}

function partsOf({ kind, document }: OpenedConfig): Parts {
  if (kind === "farm") {
    const farm = checkFarm(document);
    if (farm.ok) {
      const agents = farm.value.agents.map((config, i) => ({ config, at: ["agents", i] }));
      return { agents, gateway: farm.value.gateway };
    }
  }
  const agent = kind === "agent" ? checkDocument(document, agentConfigSchema) : null;
  const agents = agent?.ok === true ? [{ config: agent.value, at: [] }] : [];
  return { agents, gateway: null };
}

function inWords({ bounds, swapped, longestLoadMs, longestAnswerMs }: ConfigPromise, { engines }: AgentConfig): string {
  const places = bounds.map(({ from, to, ms }) => {
    const place = bounds.length === 1 ? "" : ` at place ${from === to ? from : `${from} to ${to}`}`;
    return `${formatDuration(ms)}${place}`;
  });
  if (places.length > NAMED) places.splice(NAMED - 1, places.length - NAMED, "...");
  const load = `loads of up to ${formatDuration(longestLoadMs)}`;
  const what =
    swapped.length > 0 ? `${swapped.length} models that are swapped, ${load}` : `no model is swapped, ${load}`;
  const attached = engines.length === 0 ? "" : "; what its engines list and the file does not name is not counted";
  const answers = `answers of up to ${formatDuration(longestAnswerMs)}`;
  return `a request waits at most ${places.join(", ")}: ${what}, ${answers}${attached}`;
}

/**
 * A place at an agent is free again when an answer ends, and the request that has it may wait its whole time in the
 * agent's queue before, which no limit of the gateway counts. So who waits for such a place in the gateway, and only that
 * one, may be refused by its `limits.queueWait` although all goes as promised:
 *
 * 1. before a worker at its `maxConcurrent`;
 * 2. in the queue of `scheduling: deadline`.
 *
 * null: it waits long enough, or neither of the two is there.
 */
function refusedTooSoon(
  { bounds, longestAnswerMs }: ConfigPromise,
  agent: string,
  gateway: GatewayConfig | null,
): string | null {
  const { queueWait } = (gateway ?? DEFAULTS).limits;
  const ms = asTold(Math.max(...bounds.map((bound) => bound.ms)) + longestAnswerMs, Math.ceil);
  if (queueWait >= ms) return null;
  const isCapped = gateway?.workers.some(({ name, maxConcurrent }) => name === agent && maxConcurrent > 0) ?? true;
  if (!isCapped && gateway?.scheduling !== "deadline") return null;
  const most = formatDuration(ms);
  // What is too little is not to read as enough.
  const limit = formatDuration(queueWait < HOUR ? queueWait : asTold(queueWait, Math.floor));
  const where = gateway === null ? "a gateway with maxConcurrent or scheduling: deadline" : "the gateway";
  return (
    `a place at ${agent} may be taken for ${most}, and ${where} refuses who waits for one after limits.queueWait ` +
    `(${limit}): set that to ${most} at least`
  );
}

/** To what `formatDuration` tells without a loss: seconds below an hour, minutes from there on. All in milliseconds. */
function asTold(ms: number, round: (units: number) => number): number {
  const unit = ms < HOUR ? 1_000 : 60_000;
  return round(ms / unit) * unit;
}
