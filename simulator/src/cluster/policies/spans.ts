import type { ClusterShape, ClusterView, ModelProfile } from "../types.ts";

/** Devices that one instance of the model takes. */
export function spanOf(model: ModelProfile): number {
  return model.tensorParallel * model.dataParallel;
}

/** The span that begins at a device: devices that follow each other. */
export function spanAt(first: number, size: number): number[] {
  return Array.from({ length: size }, (_, i) => first + i);
}

/**
 * First devices of all spans of that size: within a host from a multiple of the size, or, when a host is too small for
 * it, from the first device of a host on.
 */
export function spanStarts(shape: ClusterShape, size: number): number[] {
  const { hosts, devicesPerHost } = shape;
  const starts: number[] = [];
  if (size > devicesPerHost) {
    const hostsOfOne = Math.ceil(size / devicesPerHost);
    for (let host = 0; host + hostsOfOne <= hosts; host += hostsOfOne) starts.push(host * devicesPerHost);
    return starts;
  }
  for (let host = 0; host < hosts; host += 1) {
    for (let place = 0; place + size <= devicesPerHost; place += size) starts.push(host * devicesPerHost + place);
  }
  return starts;
}

/** Which devices are free, while one plan takes them one after the other. */
export class FreeDevices {
  readonly #view: ClusterView;
  readonly #within: (device: number) => boolean;
  readonly #taken = new Set<number>();

  /** `within`: devices that may be used at all. */
  constructor(view: ClusterView, within: (device: number) => boolean = () => true) {
    this.#view = view;
    this.#within = within;
  }

  /** A free span of that size, marked as taken, on the host with the fewest free devices; null: none is left. */
  take(size: number): number[] | null {
    const { shape } = this.#view;
    let best: number | null = null;
    let fewest = Infinity;
    for (const start of spanStarts(shape, size)) {
      if (!this.#allFree(start, size)) continue;
      const host = Math.floor(start / shape.devicesPerHost) * shape.devicesPerHost;
      const free = this.#countFree(host, shape.devicesPerHost);
      if (free >= fewest) continue;
      best = start;
      fewest = free;
    }
    if (best === null) return null;
    const devices = spanAt(best, size);
    for (const device of devices) this.#taken.add(device);
    return devices;
  }

  #isFree(device: number): boolean {
    return this.#view.isFree(device) && !this.#taken.has(device) && this.#within(device);
  }

  #allFree(start: number, size: number): boolean {
    for (let device = start; device < start + size; device += 1) if (!this.#isFree(device)) return false;
    return true;
  }

  #countFree(start: number, size: number): number {
    let free = 0;
    for (let device = start; device < start + size; device += 1) if (this.#isFree(device)) free += 1;
    return free;
  }
}
