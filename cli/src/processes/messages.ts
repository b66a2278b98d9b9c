import type { FromRoom, GatewayConfig, ToRoom } from "@farmgate/gateway";
import type { TlsPair } from "@farmgate/wire";

/** What one process of a gateway is to be. */
export interface ProcessOrder {
  /** From 1 on; who takes the place of one that died, or that leaves, has its number. */
  number: number;
  /** Of all that make up the gateway. */
  processes: number;
  /** By which the others know it. */
  id: string;
  /** Of the whole gateway. */
  config: GatewayConfig;
  tls: TlsPair | null;
}

/** From the primary. */
export type ToProcess =
  | ({ kind: "start" } & ProcessOrder)
  | { kind: "reload"; config: GatewayConfig }
  | { kind: "renew"; pair: TlsPair }
  | { kind: "close" }
  /** No connection is handed to it any more: what was, it has heard of before this. */
  | { kind: "left" }
  /** To the question of that number. */
  | { kind: "alive"; number: number }
  | { kind: "room"; messages: readonly FromRoom[] };

/** To the primary. */
export type FromProcess =
  /** It runs, and wants to know what it is to be. */
  | { kind: "up" }
  | { kind: "listening"; url: string }
  /** It listens no more, and ends what it has: it was told to by somebody else, or `isBroken` by an error of its own. */
  | { kind: "leaves"; isBroken: boolean }
  | { kind: "alive?"; number: number }
  /** It could not start. `code`: of the system's error. */
  | { kind: "failed"; message: string; code: string | null }
  | { kind: "room"; messages: readonly ToRoom[] };
