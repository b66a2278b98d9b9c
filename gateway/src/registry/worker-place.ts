import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { FarmError, type Registration } from "@farmgate/shared";
import type { WorkerConfig } from "../catalog/types.ts";
import { addressFault, isOfHere, type Teller } from "./address-rules.ts";
import { type AddressesOf, hostOf, ownAddresses } from "./lookups.ts";

/** The connection by which a registration comes. */
export interface Origin {
  /** The other end's address, as the system tells it; empty: the connection is gone. */
  address: string;
  /** A proxy says that it passed the request on: the address is the proxy's. */
  passedOn: boolean;
}

/**
 * The worker of a registration, as it would stand in the file: at its own `url`, or where the registration came from; and
 * who told of it. Looks no name up. Throws `invalid_request` for an address that no agent may have the gateway ask
 * (`address-rules.ts`).
 */
export function workerPlace(told: Registration, origin: Origin): { config: WorkerConfig; teller: Teller } {
  const own = ownAddresses();
  const url = told.url ?? urlFrom(told, origin);
  const teller = !origin.passedOn && isOfHere(origin.address, own) ? "here" : "elsewhere";
  const host = hostOf(url);
  if (isIP(host) !== 0) refuseFaults(url, [host], teller);
  const config: WorkerConfig = {
    name: told.name,
    url,
    ca: told.certificate === null ? null : certificateOf(told.certificate),
    engine: "agent",
    weight: told.weight,
    models: told.models,
    maxConcurrent: told.maxConcurrent,
    apiKey: told.key,
    drainOnAbort: { bytes: 0, time: 0 },
  };
  return { config, teller };
}

/**
 * Rejects with `invalid_request` where a url leads nowhere now, or only where no agent may have the gateway ask: to those
 * of its addresses no connection is made (`checkedLookup`), so one that is sound is enough.
 */
export async function lookAtPlace(url: string, teller: Teller, addressesOf: AddressesOf): Promise<void> {
  const host = hostOf(url);
  const found = await addressesOf(host).catch(() => {
    throw refused(`The gateway knows no address of ${host}: set \`gateway.advertise\` to one that it can reach`);
  });
  refuseFaults(url, found, teller);
}

/** Whether the gateway asks the worker where the registration came from. */
export function isAtOrigin({ url }: WorkerConfig, { address, passedOn }: Origin): boolean {
  return !passedOn && address !== "" && new URL(url).hostname === new URL(`http://${inUrl(address)}`).hostname;
}

function refuseFaults(url: string, addresses: readonly string[], teller: Teller): void {
  const own = ownAddresses();
  const faults = addresses.map((address) => addressFault(address, teller, own));
  const [first = null] = faults;
  if (first !== null && !faults.includes(null)) throw refused(`${url} is not asked: ${first}`);
}

function urlFrom({ tls, port }: Registration, { address, passedOn }: Origin): string {
  if (passedOn)
    throw refused("A proxy passed this on, so that it does not tell where the agent is: set `gateway.advertise`");
  if (address === "") throw refused("The connection ended before it told where the agent is");
  if (address.includes("%")) throw refused(`${address} holds on one link alone: set \`gateway.advertise\``);
  return `${tls ? "https" : "http"}://${inUrl(address)}:${port}`;
}

function inUrl(address: string): string {
  const bare = address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  return isIP(bare) === 6 ? `[${bare}]` : bare;
}

/** The first certificate of a PEM text, which is the agent's own. */
function certificateOf(text: string): string {
  try {
    return new X509Certificate(text).toString();
  } catch {
    throw new FarmError("invalid_request", "certificate: holds no certificate.", { param: "certificate" });
  }
}

function refused(why: string): FarmError {
  return new FarmError("invalid_request", `${why}.`, { param: "url" });
}
