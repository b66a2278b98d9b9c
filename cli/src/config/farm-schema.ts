import { gatewayConfigSchema, type GatewayConfig } from "@farmgate/gateway";
import { checkDocument, type ConfigDocument, type ConfigProblem, type ParsedConfig } from "@farmgate/shared";
import { type EngineOptions, engineOptionsSchema, type SimulateFigures, simulateSchema } from "@farmgate/simulator";
import { type AgentConfig, agentConfigSchema } from "@farmgate/worker-agent";
import { z } from "zod";
import { clashes } from "./clashes.ts";
import { derivedWorkers } from "./derived-workers.ts";

/** A farm file: one gateway, its agents, and simulated engines, each of which `up` starts as its own process. */
export interface Farm {
  gateway: GatewayConfig;
  agents: readonly AgentConfig[];
  engines: readonly FarmEngine[];
  /** What real engines are like, for `farmgate simulate` alone. */
  simulate: SimulateFigures;
}

export type FarmEngine = EngineOptions & { name: string };

const list = z.array(z.unknown(), { error: "must be a list" }).default([]);
const envelopeSchema = z.strictObject({
  gateway: z.unknown().optional(),
  agents: list,
  engines: list,
  simulate: simulateSchema,
});

/**
 * Checks a farm file. Its parts are checked by the schemas of their own programs, so a part means here what it means
 * in a file of its own; what is added are the rules between parts and the gateway's workers, which follow from the
 * agents (without agents: from the engines) when `gateway.workers` is not written.
 */
export function checkFarm(document: ConfigDocument): ParsedConfig<Farm> {
  const envelope = checkDocument(withoutProblems(document), envelopeSchema);
  const counts = envelope.ok ? envelope.value : { agents: [], engines: [], simulate: {} };
  const agents = counts.agents.map((_, i) => checkDocument(document, agentConfigSchema, ["agents", i]));
  const engines = counts.engines.map((_, i) => checkDocument(document, engineOptionsSchema, ["engines", i]));
  const parts = { agents: values(agents), engines: values(engines).map(named), simulate: counts.simulate };
  const gateway = checkDocument(withWorkers(document, parts), gatewayConfigSchema, ["gateway"]);

  const problems = [...document.problems];
  for (const result of [envelope, ...agents, ...engines, gateway]) if (!result.ok) problems.push(...result.problems);
  if (gateway.ok && problems.length === 0) problems.push(...clashes({ gateway: gateway.value, ...parts }, document));
  if (!gateway.ok || problems.length > 0) return { ok: false, problems: sorted(problems) };
  return { ok: true, value: { gateway: gateway.value, ...parts }, env: document.env };
}

function withoutProblems(document: ConfigDocument): ConfigDocument {
  return { ...document, problems: [] };
}

/** The document with `gateway.workers` filled in where the file leaves it out. */
function withWorkers(document: ConfigDocument, parts: Pick<Farm, "agents" | "engines">): ConfigDocument {
  const root = (document.value ?? {}) as Record<string, unknown>;
  const gateway = root["gateway"] ?? {};
  if (typeof gateway !== "object" || Array.isArray(gateway) || "workers" in gateway) return document;
  return { ...document, value: { ...root, gateway: { ...gateway, workers: derivedWorkers(parts) } } };
}

/** An engine needs a name to be told from the others; its port gives one. */
function named(engine: EngineOptions): FarmEngine {
  return { ...engine, name: engine.name ?? `engine-${engine.listen.port}` };
}

function values<T>(results: readonly ParsedConfig<T>[]): T[] {
  return results.flatMap((result) => (result.ok ? [result.value] : []));
}

/** Without repetitions (every part reports an unset variable of the whole file), in the order of the file. */
function sorted(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const unique = new Map(problems.map((problem) => [`${problem.line} ${problem.path} ${problem.message}`, problem]));
  return [...unique.values()].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}
