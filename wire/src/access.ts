import type { IncomingMessage } from "node:http";
import { type AccessKey, FarmError, isAllowedHost, isAllowedOrigin, isLoopback } from "@farmgate/shared";
import { addressList } from "./address-list.ts";
import { type Caller, type KeyRing, presentedKey } from "./key-ring.ts";

/** What a configuration says of who may come in. */
export interface AccessRules {
  keys: readonly AccessKey[];
  listen: { host: string };
  operators: readonly string[];
  hosts: readonly string[];
  /** Pages that may ask; none: those of this machine. */
  origins: readonly string[];
}

/** Who asks on a path that is no inference. */
export interface Visitor extends Caller {
  /** May see the inside of the program: what is under way, its metrics. */
  reads: boolean;
  /** May change it. */
  changes: boolean;
}

/** Decides of each request who asks, and whether by a name that can only mean this program. */
export class Access {
  readonly #keys: KeyRing;
  /** This machine's own name. */
  readonly #machine: string;
  #rules: AccessRules;
  #isOperator: (address: string) => boolean;

  constructor(keys: KeyRing, rules: AccessRules, machine: string) {
    this.#keys = keys;
    this.#machine = machine;
    this.#rules = rules;
    this.#isOperator = addressList(rules.operators);
  }

  /** Replaces the rules, and the keys with them. */
  configure(rules: AccessRules): void {
    this.#rules = rules;
    this.#isOperator = addressList(rules.operators);
    this.#keys.configure(rules.keys);
  }

  /** Who sends an inference request. Throws `invalid_api_key`, or `forbidden` for a page that came by a strange name. */
  identify(request: IncomingMessage): Caller {
    const caller = this.#keys.identify(request.headers);
    this.#checkHost(request, caller, false);
    return caller;
  }

  /**
   * Who asks on another path. `inside`: it shows or changes the inside of the program, so that
   *
   * 1. with keys, any of them reads, and an admin's changes;
   * 2. without one, an operator reads all the same;
   * 3. where there are no keys, a listener on this machine alone lets everybody do both;
   * 4. any other lets the operators and this machine itself, as far as no proxy stands in between.
   *
   * Throws `invalid_api_key` or `forbidden`.
   */
  visit(request: IncomingMessage, inside: boolean): Visitor {
    const visitor = this.#visitor(request, inside);
    this.#checkHost(request, visitor, inside);
    if (inside && !visitor.reads) throw new FarmError("forbidden", noOperator(request));
    return visitor;
  }

  /** For a page that needs no key. Throws `forbidden`. */
  checkPage(request: IncomingMessage): void {
    if (this.#keys.isEmpty || this.#rules.hosts.length > 0) this.#checkName(request);
  }

  /** Whether pages of this origin are the owner's or this machine's. */
  isOwnPage(origin: string): boolean {
    return isAllowedOrigin(origin, this.#rules.origins);
  }

  #visitor(request: IncomingMessage, inside: boolean): Visitor {
    const isKeyless = presentedKey(request.headers) === null;
    if (!this.#keys.isEmpty && inside && isKeyless && this.#isFromOperator(request)) {
      return { ...NOBODY, reads: true }; // (2)
    }
    const caller = this.#keys.identify(request.headers);
    if (caller.key !== null) return { ...caller, reads: true, changes: caller.key.admin }; // (1)
    const may = isLoopback(this.#rules.listen.host) || this.#isFromHere(request) || this.#isFromOperator(request);
    return { ...NOBODY, reads: may, changes: may }; // (3), (4)
  }

  #isFromOperator(request: IncomingMessage): boolean {
    return !isPassedOn(request) && this.#isOperator(request.socket.remoteAddress ?? "");
  }

  #isFromHere(request: IncomingMessage): boolean {
    return !isPassedOn(request) && isLoopback(request.socket.remoteAddress ?? "");
  }

  /**
   * A page that had its own name lead here (DNS rebinding) is of one origin with this program for its browser, so that
   * it may send and read everything; but it has no key. So without one the name is looked at: always for the inside,
   * else where a page asks which the owner does not know. With one it is where the owner lists names.
   */
  #checkHost(request: IncomingMessage, caller: Caller, inside: boolean): void {
    if (caller.key !== null && this.#rules.hosts.length === 0) return;
    if (inside || this.#isStrangePage(request)) this.#checkName(request);
  }

  #isStrangePage({ headers }: IncomingMessage): boolean {
    const site = headers["sec-fetch-site"];
    if (headers.origin !== undefined) return !this.isOwnPage(headers.origin);
    return site !== undefined && site !== "none";
  }

  #checkName({ headers: { host } }: IncomingMessage): void {
    // Only an HTTP/1.0 client has none, and no browser is one.
    if (host === undefined) return;
    const { hosts, listen } = this.#rules;
    if (isAllowedHost(host, { hosts, listenHost: listen.host, machine: this.#machine })) return;
    const name = host.slice(0, 200);
    throw new FarmError("forbidden", `Nobody is known here by the name "${name}": add it to \`hosts\` if it is yours.`);
  }
}

const NOBODY: Visitor = { name: "", key: null, reads: false, changes: false };

/**
 * Whether a proxy says that it passed the request on: then the peer's address is the proxy's. Such a header can be made
 * up, so it takes rights away and never gives any.
 */
export function isPassedOn({ headers }: IncomingMessage): boolean {
  return PROXY_HEADERS.some((name) => headers[name] !== undefined);
}

const PROXY_HEADERS = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"];

function noOperator(request: IncomingMessage): string {
  const who = isPassedOn(request) ? "a proxy passed this on" : `yours is ${request.socket.remoteAddress ?? "unknown"}`;
  return `While no keys are set, only this machine and the addresses in \`operators\` may do this; ${who}. Set \`keys\`, or add the address.`;
}
