import type { GatewayConfig } from "../../config.ts";

/** One process' part of what the whole gateway may hold: an equal share of each limit, rounded up. 0 stays 0. */
export function shareLimits(config: GatewayConfig, processes: number): GatewayConfig {
  const { limits } = config;
  const share = (whole: number) => Math.ceil(whole / processes);
  const { connections, requests, queue, queueBytes } = limits;
  return {
    ...config,
    limits: {
      ...limits,
      connections: share(connections),
      requests: share(requests),
      queue: share(queue),
      queueBytes: share(queueBytes),
    },
  };
}
