import { X509Certificate } from "node:crypto";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { FarmError, isLoopback, type Registration } from "@farmgate/shared";
import type { WorkerConfig } from "../catalog/types.ts";
import { addressFault, isOfHere, type Teller } from "./address-rules.ts";

/** The connection by which a registration comes. */
export interface Origin {
  /** The other end's address, as the system tells it. */
  address: string;
  /** A proxy says that it passed the request on: the address is the proxy's. */
  passedOn: boolean;
}

/**
 * The worker of a registration, as it would stand in the file: at its own `url`, or where the registration came from.
 * Throws `invalid_request` for an address that no agent may have the gateway ask (`address-rules.ts`). A name is looked at
 * by what it leads to now; it is looked at again with each renewal.
 */
export async function workerPlace(told: Registration, origin: Origin): Promise<WorkerConfig> {
  const own = Object.values(networkInterfaces()).flatMap((ends) => (ends ?? []).map(({ address }) => address));
  const url = told.url ?? urlFrom(told, origin);
  const fault = await faultOf(url, { fromHere: !origin.passedOn && isOfHere(origin.address, own), own });
  if (fault !== null) throw refused(`${url} is not asked: ${fault}`);
  return {
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
}

/** Whether a worker that another gateway took in can be asked from here too; it looked at who told of it. Never rejects. */
export async function canBeAsked(url: string): Promise<boolean> {
  const fault = await faultOf(url, { fromHere: true, own: [] }).catch(() => "it leads nowhere");
  return fault === null;
}

/** Why an agent may not have the gateway ask this url; null: it may. Throws `invalid_request` where it leads nowhere. */
async function faultOf(url: string, teller: Teller): Promise<string | null> {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
  const faults = (await addressesOf(host)).map((address) => addressFault(address, teller));
  return faults.find((fault) => fault !== null) ?? null;
}

/** Whether the gateway asks the worker where the registration came from. */
export function isAtOrigin({ url }: WorkerConfig, { address, passedOn }: Origin): boolean {
  return !passedOn && new URL(url).hostname === new URL(`http://${inUrl(address)}`).hostname;
}

/** Whether a url leads to whatever machine reads it. */
export function leadsHere(url: string): boolean {
  return isLoopback(new URL(url).hostname);
}

function urlFrom({ tls, port }: Registration, { address, passedOn }: Origin): string {
  if (passedOn)
    throw refused("A proxy passed this on, so that it does not tell where the agent is: set `gateway.advertise`");
  if (address.includes("%")) throw refused(`${address} holds on one link alone: set \`gateway.advertise\``);
  return `${tls ? "https" : "http"}://${inUrl(address)}:${port}`;
}

function inUrl(address: string): string {
  const bare = address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  return isIP(bare) === 6 ? `[${bare}]` : bare;
}

async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    throw refused(`The gateway knows no address of ${host}: set \`gateway.advertise\` to one that it can reach`);
  }
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
