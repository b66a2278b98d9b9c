import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Claimed, Hub } from "./hub.ts";
import { OF_ALL } from "./of-all.ts";

/** The part of the gateway's metrics that only gateways have which act as one. */
export class TogetherMetrics {
  readonly #claims: Counter<"result">;
  readonly #seconds: Histogram;

  constructor(registry: Registry, hub: Pick<Hub, "members" | "trouble">) {
    const registers = [registry];
    const gauge = (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        aggregator: OF_ALL[name] ?? "sum",
        collect() {
          this.set(read());
        },
      });
    gauge("farmgate_gateways", "Gateways that act as one and live", () => hub.members().length);
    gauge("farmgate_together_up", "1 while they can be heard", () => (hub.trouble === null ? 1 : 0));
    const name = "farmgate_claims_total";
    this.#claims = new Counter({ name, help: "Claims among all gateways", labelNames: ["result"], registers });
    this.#seconds = new Histogram({
      name: "farmgate_claim_seconds",
      help: "From a claim to its answer",
      buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1],
      registers,
    });
  }

  claimed(result: Claimed["kind"], seconds: number): void {
    this.#claims.inc({ result });
    this.#seconds.observe(seconds);
  }
}
