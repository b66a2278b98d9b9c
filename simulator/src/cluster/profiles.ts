import { ENGINE_PARAMETERS } from "./parameters.ts";
import { prefillMs, stepMs } from "./timing.ts";
import type { Application, ClusterShape, ModelProfile } from "./types.ts";

/**
 * The published system's: 768 devices of 64 GB, of which its packer may use 58. Compute and bandwidth are about half and
 * three quarters of such a device's data sheet. The peer rate makes a fork of a full device 742 ms with its constant, the
 * host rate makes waking one 2,712 ms: both as published. Another host's memory
 * is read at half of that rate, by a network card for every two devices; the disk is ten times slower than one link.
 */
export const PUBLISHED_SHAPE: ClusterShape = {
  hosts: 48,
  devicesPerHost: 16,
  deviceMemory: 58e9,
  deviceCompute: 180e12,
  deviceBandwidth: 1.2e12,
  peerRate: 148e9,
  hostRate: 22.4e9,
  remoteRate: 11.2e9,
  diskRate: 2.24e9,
  hostMemory: 1.5e12,
};

/** The same devices, fewer hosts. */
export function shapeOf(hosts: number): ClusterShape {
  return { ...PUBLISHED_SHAPE, hosts };
}

const layersOf = (layers: number, heads: number, headSize = 128) => 2 * layers * heads * headSize * 2;

/**
 * Nine public models: parameters, layers and key-value heads as published with them, two bytes a number but for the
 * largest, which is published in one. Tensor parallelism is what its weights need, or what keeps a step near 15 ms.
 */
export const BASE_MODELS: readonly ModelProfile[] = [
  dense("dense-1.7b", 1.7e9, layersOf(28, 8), 1),
  dense("dense-4b", 4e9, layersOf(36, 8), 1),
  dense("dense-8b", 8.2e9, layersOf(36, 8), 1),
  dense("dense-14b", 14.8e9, layersOf(40, 8), 2),
  experts("moe-30b-a3b", 30.5e9, 3.3e9, 2, layersOf(48, 4), 2),
  dense("dense-32b", 32.8e9, layersOf(64, 8), 4),
  dense("dense-72b", 72.7e9, layersOf(80, 8), 8),
  experts("moe-235b-a22b", 235e9, 22e9, 2, layersOf(94, 4), 16),
  // Its attention keeps one compressed vector of 576 a layer.
  experts("moe-671b-a37b", 671e9, 37e9, 1, 61 * 576 * 2, 16),
];

function dense(name: string, parameters: number, kvBytesPerToken: number, tensorParallel: number): ModelProfile {
  const weightBytes = 2 * parameters;
  return { name, weightBytes, activeParameters: parameters, kvBytesPerToken, tensorParallel, dataParallel: 1 };
}

function experts(
  name: string,
  parameters: number,
  activeParameters: number,
  bytes: number,
  kvBytesPerToken: number,
  tensorParallel: number,
): ModelProfile {
  return {
    name,
    weightBytes: bytes * parameters,
    activeWeightBytes: bytes * activeParameters,
    activeParameters,
    kvBytesPerToken,
    tensorParallel,
    dataParallel: 1,
  };
}

/** A mean prompt, by which limits are set; tokens. */
const MEAN_PROMPT = 1_000;

/** Requests that a replica in good use decodes at once. A lone one touches few of a mixture's experts, and tells little. */
export const USUAL_BATCH = 32;

/**
 * Its limits by one rule for all: five times what a mean prompt takes an idle replica, at least half a second; and twice
 * the step of a usual batch, at least 25 ms.
 */
export function applicationOf(name: string, model: ModelProfile, shape: ClusterShape = PUBLISHED_SHAPE): Application {
  const ttftMs = Math.max(500, 5 * prefillMs(model, shape, ENGINE_PARAMETERS, MEAN_PROMPT));
  const context = USUAL_BATCH * MEAN_PROMPT;
  const tpotMs = Math.max(25, 2 * stepMs(model, shape, ENGINE_PARAMETERS, USUAL_BATCH, context));
  return { name, model, ttftMs, tpotMs };
}
