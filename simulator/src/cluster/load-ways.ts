import type { WayUp } from "@farmgate/shared";
import type { LoadSource } from "./host-store.ts";
import type { Instance } from "./instance.ts";
import type { EngineParameters } from "./parameters.ts";
import type { ClusterShape } from "./types.ts";

export interface LoadWay extends WayUp {
  readonly source: LoadSource;
  waitMs: number;
  bytes: number;
  /** The instance whose links it takes; null: another source. */
  from: Instance | null;
}

/** The ways up in a cluster: made once and filled in for each load that is weighed. */
export interface LoadWays extends Readonly<Record<LoadSource, LoadWay>> {
  readonly near: readonly LoadWay[];
  /** Asked for when none of the near ones is open. */
  readonly far: readonly LoadWay[];
}

export function loadWays(shape: ClusterShape, parameters: EngineParameters): LoadWays {
  const { peerConstantMs, hostConstantMs, diskConstantMs } = parameters;
  const way = (source: LoadSource, bytesPerSecond: number, constantMs: number): LoadWay => {
    return { source, bytesPerSecond, constantMs, waitMs: Number.POSITIVE_INFINITY, bytes: 0, from: null };
  };
  const fork = way("fork", shape.peerRate, peerConstantMs);
  const host = way("host", shape.hostRate, hostConstantMs);
  const peer = way("peer", shape.remoteRate, hostConstantMs);
  const disk = way("disk", shape.diskRate, diskConstantMs);
  return { fork, host, peer, disk, near: [fork, host], far: [peer, disk] };
}
