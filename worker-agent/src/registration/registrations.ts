import { X509Certificate } from "node:crypto";
import type { Clock, Random } from "@farmgate/shared";
import {
  type FoundService,
  type Log,
  type Multicast,
  type OpenMulticast,
  type TlsPair,
  type Upstreams,
} from "@farmgate/wire";
import type { AgentConfig } from "../config.ts";
import { foundUrl } from "./found-url.ts";
import { type GatewayTarget, Registration } from "./registration.ts";
import type { RunKey } from "./run-key.ts";

/** So many gateways of the local network are registered with. */
const MAX_FOUND = 8;

export type GatewayEntry = AgentConfig["gateway"][number];

export interface RegistrationsOptions {
  config: AgentConfig;
  version: string;
  run: RunKey;
  tls: TlsPair | null;
  clock: Clock;
  random: Random;
  log: Log;
  upstreams: Upstreams;
  openMulticast: OpenMulticast;
}

/** Keeps an agent registered with the gateways of its file, and with those that it finds where the file says so. */
export class Registrations {
  readonly #options: RegistrationsOptions;
  readonly #fixed: Registration[] = [];
  /** By address. */
  readonly #found = new Map<string, Registration>();
  #cert: string | null;
  /** One for each entry of the file that looks for gateways. */
  readonly #multicasts: Promise<Multicast | null>[] = [];
  #isLeaving = false;

  constructor(options: RegistrationsOptions) {
    this.#options = options;
    this.#cert = options.tls?.cert ?? null;
  }

  /** `port`: where the agent listens. */
  start(port: number): void {
    for (const entry of this.#options.config.gateway) {
      if (entry.url === null) this.#discover(entry, port);
      else this.#fixed.push(this.#register({ ...entry, url: entry.url }, entry, port));
    }
  }

  /** It shows another certificate from now on. */
  renewed({ cert }: TlsPair): void {
    this.#cert = cert;
    for (const registration of this.#all()) registration.start();
  }

  /** Takes leave of all of them. Never rejects. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await Promise.all(this.#all().map((registration) => registration.leave()));
    const multicasts = await Promise.all(this.#multicasts);
    await Promise.all(multicasts.flatMap((multicast) => (multicast === null ? [] : [multicast.close()])));
  }

  #all(): Registration[] {
    return [...this.#fixed, ...this.#found.values()];
  }

  #register(target: GatewayTarget, entry: GatewayEntry, port: number): Registration {
    const { clock, random, log, upstreams } = this.#options;
    const told = () => this.#told(entry, port);
    const registration = new Registration(target, { clock, random, log, upstreams, told });
    registration.start();
    return registration;
  }

  #told({ advertise, weight, maxConcurrent }: GatewayEntry, port: number) {
    const { config, version, run } = this.#options;
    return {
      name: config.name,
      url: advertise,
      port,
      tls: this.#cert !== null,
      // Alone: the chain behind it nobody needs who knows the certificate itself.
      certificate: this.#cert === null ? null : new X509Certificate(this.#cert).toString(),
      engine: "agent",
      weight,
      maxConcurrent,
      key: run.key,
      version,
      instance: run.instance,
    };
  }

  #discover(entry: GatewayEntry, port: number): void {
    const { clock, log, openMulticast } = this.#options;
    const trouble = (err: unknown) => log.warn({ err }, "looking for gateways on the local network does not work");
    const found = (service: FoundService) => {
      const url = foundUrl(service, entry.ca !== null);
      if (url === null || this.#isLeaving || this.#found.has(url) || this.#found.size >= MAX_FOUND) return;
      log.info({ gateway: url, host: service.host }, `found the gateway at ${url}`);
      this.#found.set(url, this.#register({ url, ca: entry.ca, key: entry.key }, entry, port));
    };
    const lost = (service: FoundService) => {
      const url = foundUrl(service, entry.ca !== null) ?? "";
      const registration = this.#found.get(url);
      // Anybody can say that it goes: one that still takes registrations is not believed to.
      if (registration === undefined || registration.isIn) return;
      this.#found.delete(url);
      void registration.leave();
    };
    const opened = openMulticast(clock, trouble).then(
      (multicast) => {
        multicast.browse(found, lost);
        return multicast;
      },
      (error: unknown) => {
        trouble(error);
        return null;
      },
    );
    this.#multicasts.push(opened);
  }
}
