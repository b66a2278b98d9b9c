import { lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";

/** The addresses of a host, as the system knows them now; of an address itself. Rejects where there are none. */
export type AddressesOf = (host: string) => Promise<readonly string[]>;

/** Why nothing is to be asked of this host where it leads to this address; null: it may be. */
export type HostFault = (host: string, address: string) => string | null;

/** The host of a url, an address without its brackets. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
}

export const addressesOf: AddressesOf = (host) =>
  isIP(host) === 0
    ? new Promise((resolve, reject) => {
        lookup(host, { all: true }, (error, found) => {
          if (error === null) resolve(found.map(({ address }) => address));
          else reject(error);
        });
      })
    : Promise.resolve([host]);

/**
 * Looks names up for connections, and lets none be made to an address that has a fault. A name may lead elsewhere than
 * when it was looked at, so the very addresses are looked at that are connected to; the others are left out, as systems
 * add link-local ones at times.
 */
export function checkedLookup(fault: HostFault, find: AddressesOf = addressesOf): LookupFunction {
  return (host, { all = false, family }, done) => {
    const wanted = family === 4 || family === "IPv4" ? 4 : family === 6 || family === "IPv6" ? 6 : 0;
    find(host).then(
      (found) => {
        const sound = found.filter((address) => fault(host, address) === null);
        if (sound.length === 0 && found.length > 0) {
          return done(Object.assign(new Error(`${host} leads where no worker may be`), { code: "EADDRNOTAVAIL" }), "");
        }
        const fitting = sound
          .map((address) => ({ address, family: isIP(address) }))
          .filter((one) => wanted === 0 || one.family === wanted);
        const [first] = fitting;
        if (first === undefined) done(Object.assign(new Error(`${host} has no address`), { code: "ENOTFOUND" }), "");
        else if (all) done(null, fitting);
        else done(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => done(error, ""),
    );
  };
}

export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((ends) => (ends ?? []).map(({ address }) => address));
}
