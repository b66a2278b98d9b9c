import type { GatewayConfig } from "@farmgate/gateway";
import type { WorkerConfig } from "@farmgate/gateway/policies";
import { adapterFor, catalogModel, catalogReport, type CatalogReport } from "@farmgate/engines";
import { isLoopback } from "@farmgate/shared";
import { type AgentConfig, listedModels, ModelBook, type ServedModel } from "@farmgate/worker-agent";
import { routerList, routerProps, singleList } from "../decide/catalogue.ts";
import { type EngineOptions, engineOptionsSchema } from "../decide/options.ts";
import type { AgentWorker, EngineWorker, HostedModel, LanFarm, LanWorker, ModelSpeed } from "./farm.ts";
import { ASSUMED_FIGURES, type ModelFigures, type SimulateFigures } from "./figures-schema.ts";

/** The checked parts of a farm file. */
export interface FarmParts {
  gateway: GatewayConfig;
  agents: readonly AgentConfig[];
  engines: readonly EngineOptions[];
  simulate: SimulateFigures;
}

export interface ReadFarm {
  farm: LanFarm;
  /** What was assumed or left out, as sentences. */
  notes: readonly string[];
}

/**
 * Makes a farm file into what is replayed:
 *
 * 1. A worker of the gateway is the agent, else the simulated engine, that listens at its address.
 * 2. A model of an agent is as the simulated engine at the model's `url` is, else as `simulate` tells, else as assumed.
 * 3. A worker that is neither is an engine with the models that `simulate` tells of; without any it is left out.
 */
export function readFarm(parts: FarmParts): ReadFarm {
  const notes: string[] = [];
  const workers = parts.gateway.workers.flatMap((config): LanWorker[] => {
    const agent = parts.agents.find(({ listen }) => listensAt(listen, config.url));
    if (agent !== undefined) return [agentWorker(config, agent, parts, notes)];
    const engine = parts.engines.find(({ listen }) => listensAt(listen, config.url));
    if (engine !== undefined) return [{ kind: "engine", config, options: engine, speeds: speedsOf(engine) }];
    const told = parts.simulate[config.name];
    if (told !== undefined) return [toldEngine(config, told)];
    notes.push(
      `${config.name} is left out: the file neither has its agent or engine nor tells of it under \`simulate\``,
    );
    return [];
  });
  return { farm: { gateway: parts.gateway, workers, ignoresResidency: false }, notes };
}

function agentWorker(config: WorkerConfig, agent: AgentConfig, parts: FarmParts, notes: string[]): AgentWorker {
  const told = parts.simulate[agent.name] ?? {};
  const assumed: string[] = [];
  const hosted = (served: ServedModel): HostedModel => {
    const engine = parts.engines.find(({ listen }) => listensAt(listen, served.url));
    const model = engine?.single ? engine.models[0] : engine?.models.find(({ name }) => name === served.engineName);
    if (engine !== undefined && model !== undefined) {
      return { served, speed: speedOf(engine, model), loaded: model.loaded || engine.single };
    }
    if (told[served.name] === undefined) assumed.push(served.name);
    const { loaded, ...figures } = told[served.name] ?? ASSUMED_FIGURES;
    return { served, speed: speedTold(figures), loaded: loaded || served.pinned };
  };
  const attached = agent.engines.flatMap((engine) => {
    const simulated = parts.engines.find(({ listen }) => listensAt(listen, engine.url));
    const names = [...new Set([...Object.keys(engine.models), ...Object.keys(told)])];
    const kind = simulated === undefined && engine.engine !== "auto" ? engine.engine : "llama-server";
    const report = simulated === undefined ? reportNamed(names) : reportOf(simulated);
    return listedModels({ config: engine, engine: kind, report, remembered: new Map(), timeoutMs: agent.swap.timeout })
      .models;
  });
  const models = [...new ModelBook(agent).models, ...attached].map(hosted);
  if (assumed.length > 0) {
    const { loadMs, promptTokensPerSecond, tokensPerSecond, slots } = speedTold(ASSUMED_FIGURES);
    const figures = `${loadMs / 1_000} s to load, ${promptTokensPerSecond} prompt tokens/s, ${tokensPerSecond} tokens/s, ${slots} slots`;
    notes.push(
      `${agent.name}: ${assumed.join(", ")} assumed to be as most are (${figures}); \`simulate\` tells better`,
    );
  }
  if (models.length === 0) notes.push(`${agent.name} has no model that the file names`);
  return { kind: "agent", config, agent, models };
}

function toldEngine(config: WorkerConfig, told: Readonly<Record<string, ModelFigures>>): EngineWorker {
  const models = Object.entries(told).map(([name, { load, loaded }]) => ({ name, load: `${load}ms`, loaded }));
  const slots = Math.max(...Object.values(told).map((figures) => figures.slots));
  // What a real one keeps loaded at once nobody tells: as many as are loaded at the start.
  const maxLoaded = Math.max(1, models.filter(({ loaded }) => loaded).length);
  const options = engineOptionsSchema.parse({ name: config.name, models, slots, maxLoaded });
  const speeds = Object.entries(told).map(([name, figures]) => [name, speedTold(figures)] as const);
  return { kind: "engine", config, options, speeds: new Map(speeds) };
}

function speedsOf(engine: EngineOptions): ReadonlyMap<string, ModelSpeed> {
  return new Map(engine.models.map((model) => [model.name, speedOf(engine, model)]));
}

function speedOf(engine: EngineOptions, model: EngineOptions["models"][number]): ModelSpeed {
  const { slots, promptTokensPerSecond, tokensPerSecond } = engine;
  return { slots, loadMs: model.load, promptTokensPerSecond, tokensPerSecond };
}

function speedTold({ load, slots, promptTokensPerSecond, tokensPerSecond }: Omit<ModelFigures, "loaded">): ModelSpeed {
  return { slots, loadMs: load, promptTokensPerSecond, tokensPerSecond };
}

function reportNamed(names: readonly string[]): CatalogReport {
  return catalogReport(names.map((name) => catalogModel(name, "cold", { commands: ["load", "unload"] })));
}

/** What an agent finds at a simulated engine. */
function reportOf(engine: EngineOptions): CatalogReport {
  const [first] = engine.models;
  const entries = engine.models.map((model) => ({ model, phase: "unloaded" as const, failed: false }));
  const list =
    engine.single && first !== undefined ? singleList(first, 0, engine.apis) : routerList(entries, 0, engine.apis);
  return adapterFor("llama-server").parse(list, routerProps(engine)) ?? catalogReport([]);
}

/** All programs of a farm file run on one machine, so that its ports tell them apart. */
function listensAt(listen: { host: string; port: number }, url: string): boolean {
  const { hostname, port, protocol } = new URL(url);
  const at = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  return at === listen.port && (isLoopback(hostname) || hostname === listen.host);
}
