import { FarmError, REGISTRATION_LEASE_MS } from "@farmgate/shared";
import type { WorkerConfig } from "../catalog/types.ts";
import type { RegisteredWorker } from "../together/news.ts";
import type { Teller } from "./address-rules.ts";
import { hostOf } from "./lookups.ts";

/** So many are taken: what a stolen key could add has an end. */
export const MAX_REGISTERED = 200;

interface Entry {
  config: WorkerConfig;
  instance: string;
  /** By which rule its host may lead where it does. */
  teller: Teller;
  /** When its lease runs out; milliseconds of `now`. */
  until: number;
  /** As long it keeps the address by which this gateway itself knows it, whatever another one is told. */
  ownUntil: number;
}

/** What a registration would do. */
export type Step = "joins" | "renews" | "moves" | "restarts";

/** The workers that announced themselves, here or at another gateway of the farm, and how long each lease still holds. */
export class RegistrationBook {
  readonly #entries = new Map<string, Entry>();

  /** In the order in which they came. */
  configs(): WorkerConfig[] {
    return [...this.#entries.values()].map(({ config }) => config);
  }

  /** What is left of a worker's lease, in milliseconds; null: it is not registered. */
  leaseMs(name: string, now: number): number | null {
    const entry = this.#entries.get(name);
    return entry === undefined ? null : Math.max(0, entry.until - now);
  }

  /**
   * What a registration for `config` would do:
   *
   * 1. the name is one of the file's: refused;
   * 2. nobody has it: it joins, while there is room;
   * 3. the same run has it: it renews, or moves to another address;
   * 4. another run at the same address has it: the agent was restarted;
   * 5. any other has it: refused.
   *
   * Throws `conflict`.
   */
  judge(config: WorkerConfig, instance: string, inFile: ReadonlySet<string>): Step {
    const name = config.name.slice(0, 200);
    if (inFile.has(config.name)) {
      throw new FarmError("conflict", `The gateway's own file has a worker named "${name}".`); // (1)
    }
    const held = this.#entries.get(config.name);
    if (held === undefined) {
      if (this.#entries.size < MAX_REGISTERED) return "joins"; // (2)
      throw new FarmError("conflict", `${MAX_REGISTERED} workers are registered, and no more are taken.`);
    }
    const sameTarget = isSameTarget(held.config, config);
    if (held.instance === instance) return sameTarget ? "renews" : "moves"; // (3)
    if (held.config.url === config.url) return "restarts"; // (4)
    const message = `The agent at ${held.config.url} is registered as "${name}". Names are unique: give this one another.`;
    throw new FarmError("conflict", message); // (5)
  }

  /** Takes a worker in that was judged, or renews its lease; true where readers can tell a difference. */
  put(config: WorkerConfig, instance: string, teller: Teller, now: number): boolean {
    const until = now + REGISTRATION_LEASE_MS;
    return this.#set({ config, instance, teller, until, ownUntil: until });
  }

  /**
   * What another gateway took in; true where readers can tell a difference. A name of the file, or one too many, is not
   * taken. One that registers here as well keeps the address by which this gateway knows it. `teller` null: it was not
   * looked at, since it leads where it is asked already.
   */
  told(
    { config, instance, leaseMs }: RegisteredWorker,
    teller: Teller | null,
    now: number,
    inFile: ReadonlySet<string>,
  ): boolean {
    const held = this.#entries.get(config.name);
    if (inFile.has(config.name) || (held === undefined && this.#entries.size >= MAX_REGISTERED)) return false;
    const until = now + Math.min(leaseMs, REGISTRATION_LEASE_MS);
    if (held !== undefined && keepsOwn(held, instance, now)) {
      held.until = Math.max(held.until, until);
      return false;
    }
    return this.#set({ config, instance, teller: teller ?? held?.teller ?? "gateway", until, ownUntil: 0 });
  }

  /** Whether what another gateway tells would have this one ask a worker where it does not ask it now. */
  wouldLead({ config, instance }: Pick<RegisteredWorker, "config" | "instance">, now: number): boolean {
    const held = this.#entries.get(config.name);
    return held === undefined || (held.config.url !== config.url && !keepsOwn(held, instance, now));
  }

  /** By which rules this host may lead where it does: one for each worker that is there. */
  tellersAt(host: string): Teller[] {
    const there = [...this.#entries.values()].filter(({ config }) => hostOf(config.url) === host);
    return there.map(({ teller }) => teller);
  }

  /** Takes it out; false where that run does not have the name. */
  remove(name: string, instance: string): boolean {
    return this.#entries.get(name)?.instance === instance && this.#entries.delete(name);
  }

  /** Takes out those whose lease has run out, and those whose names the file has now; their names. */
  sweep(now: number, inFile: ReadonlySet<string>): string[] {
    const gone = [...this.#entries].filter(([name, { until }]) => until <= now || inFile.has(name));
    for (const [name] of gone) this.#entries.delete(name);
    return gone.map(([name]) => name);
  }

  /** When the next lease runs out, in milliseconds of `now`; null: there is none. */
  nextEnd(): number | null {
    const ends = [...this.#entries.values()].map(({ until }) => until);
    return ends.length === 0 ? null : Math.min(...ends);
  }

  /** All of them, as another gateway is told. */
  shared(now: number): RegisteredWorker[] {
    const held = [...this.#entries.values()].filter(({ until }) => until > now);
    return held.map(({ config, instance, until }) => ({ config, instance, leaseMs: until - now }));
  }

  #set(entry: Entry): boolean {
    const before = this.#entries.get(entry.config.name)?.config;
    const same = before !== undefined && JSON.stringify(before) === JSON.stringify(entry.config);
    // The very value that others have: what compares by identity sees that nothing changed.
    this.#entries.set(entry.config.name, same ? { ...entry, config: before } : entry);
    return !same;
  }
}

function keepsOwn(held: Entry, instance: string, now: number): boolean {
  return held.instance === instance && held.ownUntil > now;
}

/** The same place, asked in the same way. */
function isSameTarget(a: WorkerConfig, b: WorkerConfig): boolean {
  return a.url === b.url && a.apiKey === b.apiKey && (a.ca ?? null) === (b.ca ?? null);
}
