import { usageError } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { type ClusterOptions, simulateCluster } from "../simulate/cluster.ts";
import { type FarmOptions, simulateFarm } from "../simulate/farm.ts";

export type SimulateOptions = Omit<FarmOptions, "farm"> &
  Omit<ClusterOptions, "cluster"> & { farm?: string; cluster?: ClusterOptions["cluster"] };

export async function simulate({ farm, cluster, ...options }: SimulateOptions, io: Io): Promise<number> {
  if (farm !== undefined && cluster !== undefined) throw usageError("either --farm or --cluster");
  if (cluster !== undefined) return simulateCluster({ ...options, cluster }, io);
  if (farm !== undefined) return simulateFarm({ ...options, farm }, io);
  throw usageError("--farm says which farm file to simulate, or --cluster which cluster");
}
