import type { LookupFunction } from "node:net";
import {
  type CancelTimer,
  type Clock,
  FarmError,
  type Registered,
  REGISTRATION_LEASE_MS,
  type Registration,
} from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { WorkerConfig } from "../catalog/types.ts";
import type { Hub } from "../together/hub.ts";
import type { RegisteredWorker } from "../together/news.ts";
import { addressFault, type Teller } from "./address-rules.ts";
import { RegistrationBook, type Step } from "./book.ts";
import { type AddressesOf, checkedLookup, type HostFault, ownAddresses } from "./lookups.ts";
import { PendingWords } from "./pending-words.ts";
import { readRegistration } from "./read-registered.ts";
import { ToldPlaces } from "./told-places.ts";
import { isAtOrigin, lookAtPlace, type Origin, workerPlace } from "./worker-place.ts";

/** So many workers are looked at at once before they are taken in; more are told to come again. */
const MAX_LOOKS = 16;

export interface RegistrarDeps {
  clock: Clock;
  log: Log;
  hub: Pick<Hub, "tell" | "onNews">;
  /** Whether this member of the hub is a process of this host. */
  isSibling: (member: string) => boolean;
  /** The names of the workers of the file. */
  inFile: () => ReadonlySet<string>;
  /** Whether a worker of the file is at this host. */
  isFileHost: (host: string) => boolean;
  addressesOf: AddressesOf;
  /** Why a worker is not to be taken in; null: it is one. No connection is made where `fault` finds one. */
  ask: (config: WorkerConfig, fault: HostFault) => Promise<string | null>;
}

/** Takes workers into the farm that announce themselves, and out again when they leave or their leases run out. */
export class Registrar {
  /** How the names of workers' hosts are looked up, for every connection to them. */
  readonly lookup: LookupFunction;
  readonly #deps: RegistrarDeps;
  readonly #book = new RegistrationBook();
  readonly #words = new PendingWords();
  readonly #toldPlaces: ToldPlaces;
  #changed = () => {};
  #cancelTimer: CancelTimer | null = null;
  #stopHearing = () => {};
  #looks = 0;
  #isStopped = false;

  constructor(deps: RegistrarDeps) {
    this.#deps = deps;
    this.#toldPlaces = new ToldPlaces(deps);
    this.lookup = checkedLookup((host, address) => this.#faultAt(host, address), deps.addressesOf);
  }

  /** `changed` is called whenever `configs` is another. */
  start(changed: () => void): void {
    this.#changed = changed;
    this.#stopHearing = this.#deps.hub.onNews((value, from) => {
      const news = readRegistration(value);
      if (news?.kind === "registered") void this.told(news.worker, from);
      else if (news !== null) this.#out(news.worker, news.instance, "has left, as another gateway tells");
    });
  }

  /** What is registered from now on changes nothing any more. */
  stop(): void {
    this.#isStopped = true;
    this.#stopHearing();
    this.#cancelTimer?.();
    this.#changed = () => {};
  }

  configs(): WorkerConfig[] {
    return this.#book.configs();
  }

  /** What is left of a worker's lease, in milliseconds; null: it did not register. */
  leaseMs(name: string): number | null {
    return this.#book.leaseMs(name, this.#deps.clock.now());
  }

  /** All that are registered, for a gateway that has missed it. */
  shared(): RegisteredWorker[] {
    return this.#book.shared(this.#deps.clock.now());
  }

  /** Takes a worker in, or renews its lease. `by`: whose key it came with. Throws `invalid_request`, `conflict`, `rate_limited`. */
  async register(registration: Registration, origin: Origin, by: string): Promise<Registered> {
    const { clock, log, hub, inFile } = this.#deps;
    const { config, teller } = workerPlace(registration, origin);
    const { name, instance } = registration;
    const step = this.#book.judge(config, instance, inFile());
    const word = this.#words.begin({ name, instance, by: "worker" });
    try {
      if (step !== "renews") {
        await this.#look(config, origin, teller);
        // Somebody else may have got the name meanwhile.
        const stepNow = this.#book.judge(config, instance, inFile());
        if (word.isOvertaken && stepNow !== "renews") throw overtaken(name);
      }
      this.#words.settle(word);
    } finally {
      this.#words.end(word);
    }
    const isNews = this.#book.put(config, instance, teller, clock.now());
    hub.tell({ kind: "registered", worker: { config, instance, leaseMs: REGISTRATION_LEASE_MS } });
    if (step !== "renews") log.info({ worker: name, url: config.url, by: by || undefined }, `${name} ${WORDS[step]}`);
    this.#watch();
    if (isNews) this.#changed();
    return { name, leaseMs: REGISTRATION_LEASE_MS };
  }

  /** Takes out a worker that leaves. Throws `not_found` where that run of it is not registered. */
  leave(name: string, instance: string): void {
    if (!this.#out(name, instance, "has left")) {
      throw new FarmError("not_found", `No worker "${name.slice(0, 200)}" of that instance is registered.`);
    }
    this.#deps.hub.tell({ kind: "unregistered", worker: name, instance });
  }

  /** Takes in what another gateway took in, the one that is `from` at the hub. Never rejects. */
  async told(worker: RegisteredWorker, from: string): Promise<void> {
    let teller: Teller | null = null;
    const word = this.#words.begin({ name: worker.config.name, instance: worker.instance, by: "gateway" });
    try {
      if (this.#book.wouldLead(worker, this.#deps.clock.now())) {
        teller = await this.#toldPlaces.tellerOf(worker, this.#deps.isSibling(from));
        if (teller === null || word.isOvertaken) return;
      }
      this.#words.settle(word);
    } finally {
      this.#words.end(word);
    }
    const isNews = this.#book.told(worker, teller, this.#deps.clock.now(), this.#deps.inFile());
    this.#watch();
    if (isNews) this.#changed();
  }

  /** The names of the file may be others now. Whoever calls it puts `configs` in force. */
  yieldToFile(): void {
    for (const name of this.#book.sweep(this.#deps.clock.now(), this.#deps.inFile())) {
      this.#deps.log.warn({ worker: name }, `${name} is the file's worker of that name now: the registered one is out`);
    }
  }

  async #look(config: WorkerConfig, origin: Origin, teller: Teller): Promise<void> {
    if (this.#looks >= MAX_LOOKS) {
      throw new FarmError("rate_limited", "Many workers register at this moment: come again.", { retryAfterS: 1 });
    }
    this.#looks += 1;
    try {
      const { name, url } = config;
      await lookAtPlace(url, teller, this.#deps.addressesOf);
      const own = ownAddresses();
      const why = await this.#deps.ask(config, (_, address) => addressFault(address, teller, own));
      if (why === null) return;
      this.#deps.log.warn(
        { worker: name, url, why },
        `${name} is not taken in: no agent of that name answers at ${url}`,
      );
      // Of other machines it is not told what was found: a key that registers is not to be one that looks around.
      const found = isAtOrigin(config, origin) ? why : "the gateway's log says why";
      const text = `The gateway finds no agent "${name.slice(0, 200)}" at ${url}: ${found}.`;
      throw new FarmError("invalid_request", text, { param: "url" });
    } finally {
      this.#looks -= 1;
    }
  }

  /**
   * Why no connection is to be made to a host that leads to this address now; null: one may. The owner's word counts for
   * the hosts of the file. Others were looked at when they registered, and may lead elsewhere by now.
   */
  #faultAt(host: string, address: string): string | null {
    if (this.#deps.isFileHost(host)) return null;
    const own = ownAddresses();
    // Nobody's any more: something may still wait for a connection there.
    const tellers = [...this.#book.tellersAt(host), "here" as const];
    return tellers.map((teller) => addressFault(address, teller, own)).find((fault) => fault !== null) ?? null;
  }

  #out(name: string, instance: string, why: string): boolean {
    this.#words.settle({ name, instance, by: "leaving" });
    if (!this.#book.remove(name, instance)) return false;
    this.#deps.log.info({ worker: name }, `${name} ${why}`);
    this.#changed();
    return true;
  }

  /** One timer for all: it looks again at the earliest end, which renewals may have moved. */
  #watch(): void {
    const end = this.#book.nextEnd();
    if (this.#cancelTimer !== null || end === null || this.#isStopped) return;
    this.#cancelTimer = this.#deps.clock.after(Math.max(1, end - this.#deps.clock.now()), () => {
      this.#cancelTimer = null;
      const gone = this.#book.sweep(this.#deps.clock.now(), this.#deps.inFile());
      for (const name of gone) {
        this.#deps.log.warn({ worker: name }, `${name} has not renewed its registration: it is out of the farm`);
      }
      this.#watch();
      if (gone.length > 0) this.#changed();
    });
  }
}

/** An agent that is still there comes again soon. */
function overtaken(name: string): FarmError {
  const text = `"${name.slice(0, 200)}" has left or registered otherwise since: come again if this still holds.`;
  return new FarmError("rate_limited", text, { retryAfterS: 1 });
}

const WORDS: Readonly<Record<Exclude<Step, "renews">, string>> = {
  joins: "has registered",
  moves: "has registered at another address",
  restarts: "has registered anew: its agent was restarted",
};
