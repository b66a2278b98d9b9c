import type { GatewayConfig } from "@farmgate/gateway";
import type { WorkerConfig } from "@farmgate/gateway/policies";
import type { AgentConfig, ServedModel } from "@farmgate/worker-agent";
import type { EngineOptions } from "../decide/options.ts";

/** How fast a model is where it runs. Speeds are of one slot, in tokens per second; 0: at once. */
export interface ModelSpeed {
  /** Requests that its engine serves at once; more wait inside it. */
  slots: number;
  /** Milliseconds. */
  loadMs: number;
  promptTokensPerSecond: number;
  tokensPerSecond: number;
}

/** A model of an agent. */
export interface HostedModel {
  served: ServedModel;
  speed: ModelSpeed;
  /** From the start. */
  loaded: boolean;
}

export interface AgentWorker {
  kind: "agent";
  config: WorkerConfig;
  agent: AgentConfig;
  models: readonly HostedModel[];
}

/** A bare engine, which loads what it is asked for. */
export interface EngineWorker {
  kind: "engine";
  config: WorkerConfig;
  options: EngineOptions;
  /** By the model's own name. */
  speeds: ReadonlyMap<string, ModelSpeed>;
}

export type LanWorker = AgentWorker | EngineWorker;

/** A farm as it is replayed: an immutable value, so that one can be made of another by a change. */
export interface LanFarm {
  gateway: GatewayConfig;
  workers: readonly LanWorker[];
  /** The gateway sees where models are, and not whether they are loaded: what it would be without warm-first. */
  ignoresResidency: boolean;
}
