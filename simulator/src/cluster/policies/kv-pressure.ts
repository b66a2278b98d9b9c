import type { ClusterView } from "../types.ts";
import { spanAt, spanOf, spanStarts } from "./spans.ts";

/**
 * How crowded devices are, after Prism: of the models on a device, the sum of rate / limit, over the memory that is
 * left for their requests' state. A plan changes it as it goes on.
 */
export class KvPressure {
  readonly #view: ClusterView;
  readonly #reserve: number;
  readonly #weights: Float64Array;
  readonly #freeBytes: Float64Array;

  /**
   * @param weightOf An instance's part of its application's rate / limit.
   * @param reserve Share of a device's memory that stays free of weights.
   */
  constructor(view: ClusterView, weightOf: (app: number) => number, reserve: number) {
    const devices = view.shape.hosts * view.shape.devicesPerHost;
    this.#view = view;
    this.#reserve = reserve * view.shape.deviceMemory;
    this.#weights = new Float64Array(devices);
    this.#freeBytes = new Float64Array(devices).fill(view.shape.deviceMemory);
    for (const instance of view.instances) this.add(instance.app, instance.devices, weightOf(instance.app));
  }

  add(app: number, devices: readonly number[], weight: number): void {
    this.#change(app, devices, weight, 1);
  }

  remove(app: number, devices: readonly number[], weight: number): void {
    this.#change(app, devices, weight, -1);
  }

  /** Of the fullest of the devices, with one more instance on them; null: it does not fit. */
  withOneMore(app: number, devices: readonly number[], weight: number): number | null {
    const bytes = this.#bytesPerDevice(app);
    let worst = 0;
    for (const device of devices) {
      const left = (this.#freeBytes[device] ?? 0) - bytes;
      if (left < this.#reserve) return null;
      worst = Math.max(worst, ((this.#weights[device] ?? 0) + weight / devices.length) / left);
    }
    return worst;
  }

  /** The span that is least crowded with one more instance on it; of equals the first. */
  best(
    app: number,
    weight: number,
    skip: (devices: readonly number[]) => boolean,
  ): { devices: readonly number[]; pressure: number } | null {
    const application = this.#view.applications[app];
    if (application === undefined) return null;
    const size = spanOf(application.model);
    let best: { devices: readonly number[]; pressure: number } | null = null;
    for (const start of spanStarts(this.#view.shape, size)) {
      const devices = spanAt(start, size);
      const pressure = this.withOneMore(app, devices, weight);
      if (pressure === null || (best !== null && pressure >= best.pressure) || skip(devices)) continue;
      best = { devices, pressure };
    }
    return best;
  }

  #bytesPerDevice(app: number): number {
    const model = this.#view.applications[app]?.model;
    return model === undefined ? 0 : model.weightBytes / model.tensorParallel;
  }

  #change(app: number, devices: readonly number[], weight: number, sign: 1 | -1): void {
    const bytes = this.#bytesPerDevice(app);
    for (const device of devices) {
      this.#weights[device] = (this.#weights[device] ?? 0) + (sign * weight) / devices.length;
      this.#freeBytes[device] = (this.#freeBytes[device] ?? 0) - sign * bytes;
    }
  }
}
