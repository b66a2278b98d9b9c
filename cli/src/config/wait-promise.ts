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

/** Beside a load that is so many times as long, `maxWait` is hardly a wait at all. */
const SHORT_WAIT = 10;
/** Places with bounds of their own that are all named; of more the first ones and the last. */
const NAMED = 4;

/**
 * The longest that a request waits in the queue of each agent of a file without problems, and a warning where that is
 * longer than a gateway would wait for it: the farm file's, else one with default settings.
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
    const warn = (key: string, message: string) => {
      const path = [...at, "queue", key];
      warnings.push({ path: formatPath(path), line: opened.document.lineOf(path), message });
    };
    const tooLong = beyond(promise, gateway);
    if (tooLong !== null) warn("maxBatch", tooLong);
    const { longestLoadMs, swapped } = promise;
    if (swapped.length > 0 && config.queue.maxWait * SHORT_WAIT < longestLoadMs) {
      const loads = formatDuration(longestLoadMs);
      warn("maxWait", `is short beside loads of up to ${loads}: nearly every request makes its model the next one`);
    }
  }
  return { lines, warnings };
}

interface Parts {
  agents: readonly { config: AgentConfig; at: readonly PropertyKey[] }[];
  gateway: GatewayConfig;
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
  return { agents, gateway: gatewayConfigSchema.parse({ workers: [] }) };
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

/** null: a gateway with these settings waits long enough. Its `timeouts.firstByte` counts from the turn only. */
function beyond({ bounds }: ConfigPromise, { limits: { queueWait } }: GatewayConfig): string | null {
  const ms = Math.max(...bounds.map((bound) => bound.ms));
  if (queueWait >= ms) return null;
  const limit = `limits.queueWait (${formatDuration(queueWait)})`;
  return `a request may wait ${formatDuration(ms)} for its turn, longer than the gateway's ${limit}`;
}
