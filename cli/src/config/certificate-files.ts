import type { GatewayConfig } from "@farmgate/gateway";
import type { TlsPair } from "@farmgate/wire";
import type { AgentConfig } from "@farmgate/worker-agent";
import type { ShownCertificates } from "../up/process-plan.ts";
import { Certificates } from "./certificates.ts";
import { checkFarm, type Farm } from "./farm-schema.ts";
import { agentPart } from "./agent-part.ts";
import { gatewayPart } from "./gateway-part.ts";
import { checked, type OpenedConfig } from "./open-config.ts";

/** A configuration whose `ca` are texts, not names of files any more, and what its listener shows. */
export interface WithCertificates<T> {
  config: T;
  tls: TlsPair | null;
}

/** Reads what a gateway's part of a file names. */
export async function gatewayFiles(
  opened: OpenedConfig,
  config: GatewayConfig,
  found: Certificates,
): Promise<WithCertificates<GatewayConfig>> {
  const at = opened.kind === "farm" ? ["gateway"] : [];
  const tls = await found.pair(config.tls, [...at, "tls"]);
  const workers = await Promise.all(
    config.workers.map(async (worker, i) => {
      return { ...worker, ca: await found.authorities(worker.ca, [...at, "workers", i, "ca"]) };
    }),
  );
  const { redis } = config;
  const ca = await found.authorities(redis?.ca ?? null, [...at, "redis", "ca"]);
  return { config: { ...config, workers, redis: redis && { ...redis, ca } }, tls };
}

/** Reads what an agent's part of a file names. */
export async function agentFiles(
  opened: OpenedConfig,
  config: AgentConfig,
  found: Certificates,
): Promise<WithCertificates<AgentConfig>> {
  const at = opened.kind === "farm" ? ["agents", indexOf(opened, config)] : [];
  const tls = await found.pair(config.tls, [...at, "tls"]);
  const withCa = <T extends { ca: string | null }>(list: readonly T[], key: string) =>
    Promise.all(list.map(async (one, i) => ({ ...one, ca: await found.authorities(one.ca, [...at, key, i, "ca"]) })));
  const models = await withCa(config.models, "models");
  return { config: { ...config, models, engines: await withCa(config.engines, "engines") }, tls };
}

/** What a listener shows, read once more. Rejects with a ConfigError when it cannot be used. */
export async function pairAnew(
  opened: OpenedConfig,
  files: { cert: string; key: string } | null,
  wallMs: number,
): Promise<TlsPair | null> {
  const found = new Certificates(opened, wallMs);
  const pair = await found.pair(files, ["tls"]);
  found.orThrow();
  return pair;
}

/** What is wrong with the certificates of a whole file whose values are in order. */
export async function certificatesOf(opened: OpenedConfig, wallMs: number): Promise<Certificates> {
  const found = new Certificates(opened, wallMs);
  if (opened.kind !== "agent") await gatewayFiles(opened, gatewayPart(opened, null), found);
  const agents = opened.kind === "farm" ? checked(opened, checkFarm(opened.document)).agents : [];
  if (opened.kind === "agent") await agentFiles(opened, agentPart(opened, null), found);
  for (const agent of agents) await agentFiles(opened, agent, found);
  return found;
}

/** What the programs of a farm show. Rejects with a ConfigError when any of it cannot be used. */
export async function shownCertificates(opened: OpenedConfig, farm: Farm, wallMs: number): Promise<ShownCertificates> {
  const found = new Certificates(opened, wallMs);
  const gateway = await gatewayFiles(opened, farm.gateway, found);
  const agents: (string | null)[] = [];
  for (const agent of farm.agents) agents.push((await agentFiles(opened, agent, found)).tls?.cert ?? null);
  found.orThrow();
  return { gateway: gateway.tls?.cert ?? null, agents };
}

function indexOf(opened: OpenedConfig, { name }: AgentConfig): number {
  return checked(opened, checkFarm(opened.document)).agents.findIndex((agent) => agent.name === name);
}
