/** What a program knows of the names under which it is called. */
export interface HostRules {
  /** The owner's, as `farm.example.com`, `*.example.com`, or `*` for any. */
  hosts: readonly string[];
  /** Where it listens. */
  listenHost: string;
  /** This machine's own name. */
  machine: string;
}

/** How a container calls the machine that it runs on. */
const MACHINE_OF_CONTAINERS: ReadonlySet<string> = new Set(["host.docker.internal", "host.containers.internal"]);

/**
 * Whether a `Host` is one that no stranger can have made lead here. A page that got its own name to lead to this machine
 * (DNS rebinding) has a public name. It may be
 *
 * 1. an address, which is no name;
 * 2. `localhost`, or a name without dots: the public has none of these;
 * 3. what the program listens on, or this machine's own name, also with `.local` behind it;
 * 4. a name that the owner lists.
 */
export function isAllowedHost(host: string, { hosts, listenHost, machine }: HostRules): boolean {
  const name = hostName(host);
  if (name === null) return false;
  if (name.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(name)) return true; // (1)
  if (!name.includes(".") || name.endsWith(".localhost") || MACHINE_OF_CONTAINERS.has(name)) return true; // (2)
  const own = machine.toLowerCase().replace(/\.local$/, "");
  if (name === listenHost.toLowerCase() || name === own || name === `${own}.local`) return true; // (3)
  return hosts.some((listed) => matches(name, listed.toLowerCase())); // (4)
}

/** The name in a `Host`, in small letters, without port and a root's dot; null: it is none. An IPv6 address is in brackets. */
function hostName(host: string): string | null {
  if (/[\s/?#@\\,]/.test(host) || !URL.canParse(`http://${host}`)) return null;
  return new URL(`http://${host}`).hostname.replace(/\.$/, "") || null;
}

function matches(name: string, listed: string): boolean {
  return listed === "*" || name === listed || (listed.startsWith("*.") && name.endsWith(listed.slice(1)));
}
