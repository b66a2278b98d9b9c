import type { EventEmitter } from "node:events";
import type { CancelTimer, Clock } from "@farmgate/shared";

/** How Farmgate's gateways are called on the local network (DNS-SD): `_farmgate._tcp`. */
const TYPE = "farmgate";

/** Between two questions who is there, in milliseconds: an answer may have been lost. */
const ASK_EVERY_MS = 30_000;

/** For taking back what was announced, in milliseconds. */
const CLOSE_MS = 1_000;

/** A service that is told of on the local network. */
export interface LocalService {
  /** Unlike that of any other. */
  name: string;
  port: number;
  txt: Readonly<Record<string, string>>;
}

export interface FoundService extends LocalService {
  /** The name of its machine. */
  host: string;
  /** IPv4 first; the one that told of it first of all. */
  addresses: readonly string[];
}

/** Multicast DNS, as much as is needed of it. */
export interface Multicast {
  announce(service: LocalService): void;
  /** Tells of each gateway that is there or comes, and of those that say that they go. */
  browse(found: (service: FoundService) => void, lost: (service: FoundService) => void): void;
  /** Takes back what was announced. */
  close(): Promise<void>;
}

/** `onTrouble` is told what keeps it from working, which is no reason to stop for. */
export type OpenMulticast = (clock: Clock, onTrouble: (error: Error) => void) => Promise<Multicast>;

/** The real one; its library is read only now. */
export const openMulticast: OpenMulticast = async (clock, onTrouble) => {
  const { default: Bonjour } = await import("bonjour-service");
  const bonjour = new Bonjour({}, onTrouble);
  // An error that nobody listens for would end the program, and the library listens for none.
  const { mdns } = (bonjour as unknown as { server: { mdns: EventEmitter } }).server;
  mdns.on("error", onTrouble);
  let stopAsking: CancelTimer = () => {};
  return {
    announce({ name, port, txt }) {
      // What it is to be called nobody else is: looking for another one would only take time.
      bonjour.publish({ name, type: TYPE, port, txt: { ...txt }, probe: false });
    },
    browse(found, lost) {
      const browser = bonjour.find({ type: TYPE });
      browser.on("up", (service: BonjourService) => found(foundOf(service)));
      browser.on("down", (service: BonjourService) => lost(foundOf(service)));
      browser.on("srv-update", (now: BonjourService, before: BonjourService) => {
        lost(foundOf(before));
        found(foundOf(now));
      });
      const askAgain = () => {
        stopAsking = clock.after(ASK_EVERY_MS, () => {
          browser.update();
          askAgain();
        });
      };
      askAgain();
    },
    close() {
      stopAsking();
      return new Promise((resolve) => {
        const stop = clock.after(CLOSE_MS, resolve);
        bonjour.unpublishAll(() =>
          bonjour.destroy(() => {
            stop();
            resolve();
          }),
        );
      });
    },
  };
};

interface BonjourService {
  name: string;
  host: string;
  port: number;
  txt?: unknown;
  addresses?: string[];
  referer?: { address: string };
}

function foundOf({ name, host, port, txt, addresses = [], referer }: BonjourService): FoundService {
  const told = Object.entries((txt ?? {}) as Record<string, unknown>).map(([key, value]) => [key, String(value)]);
  const all = [...(referer === undefined ? [] : [referer.address]), ...addresses];
  const byFamily = (colons: boolean) => all.filter((address) => address.includes(":") === colons);
  const sorted = [...new Set([...byFamily(false), ...byFamily(true)])];
  return { name, host, port, addresses: sorted, txt: Object.fromEntries(told) as Record<string, string> };
}
