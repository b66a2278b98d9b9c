import type { Bin } from "@farmgate/gateway/policies";
import type { ClusterShape } from "../types.ts";

/** The devices as bins of the pools; a bin's id is its device. */
export function clusterBins(shape: ClusterShape, maxModels: number): Bin[] {
  return Array.from({ length: shape.hosts * shape.devicesPerHost }, (_, device) => ({
    id: String(device),
    host: String(Math.floor(device / shape.devicesPerHost)),
    index: device % shape.devicesPerHost,
    capacity: { memory: shape.deviceMemory, compute: 1, bandwidth: 1 },
    maxModels,
  }));
}
