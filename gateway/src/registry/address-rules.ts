import { addressList } from "@farmgate/wire";

/** No worker is at one of these, whoever says so: cloud machines give away their secrets at some. */
const isNobody = addressList([
  "0.0.0.0/8",
  "::/128",
  // Link-local, the metadata of most clouds among them; of an IPv6 one nobody could tell on which link.
  "169.254.0.0/16",
  "fe80::/10",
  "64:ff9b::a9fe:0/112",
  // The metadata of those that have them elsewhere.
  "100.100.100.200/32",
  "192.0.0.192/32",
  "fd00:ec2::254/128",
  "168.63.129.16/32",
  // Many at once.
  "224.0.0.0/4",
  "ff00::/8",
  "255.255.255.255/32",
]);

/** Whether an address is of whatever machine reads it. */
export const isLoop = addressList(["127.0.0.0/8", "::1/128"]);

/**
 * Who told of a worker: the gateway's own machine, another one, or another gateway, which knows its own machine, and not
 * this one.
 */
export type Teller = "here" | "elsewhere" | "gateway";

/** Why the gateway is not to ask a worker at this address; null: it may. `own`: the addresses of this machine. */
export function addressFault(address: string, teller: Teller, own: readonly string[]): string | null {
  if (isNobody(address)) return "no worker can be at such an address";
  if (teller === "here") return null;
  if (isLoop(address)) return "that is the gateway's own machine, and the agent is on another one";
  if (teller === "elsewhere" && own.length > 0 && addressList(own)(address))
    return "that is the gateway's own machine, not the agent's";
  return null;
}

/** Whether an address is of this machine. */
export function isOfHere(address: string, own: readonly string[]): boolean {
  return isLoop(address) || (own.length > 0 && addressList(own)(address));
}
