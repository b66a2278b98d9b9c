import { randomBytes } from "node:crypto";
import { type AccessKey, isLoopback } from "@farmgate/shared";
import { KeyRing } from "@farmgate/wire";
import type { AgentConfig } from "../config.ts";

/** What an agent is known by to the gateways that it registers with, for this run alone. Never shown or logged. */
export interface RunKey {
  key: string;
  instance: string;
}

export function makeRunKey(): RunKey {
  return { key: randomBytes(32).toString("base64url"), instance: randomBytes(16).toString("hex") };
}

/**
 * Who may ask an agent: whom the file says, and the gateways that it registers with, which may also unload.
 *
 * 1. There are keys: theirs is one more.
 * 2. There are none, and everybody may ask: that stays so.
 * 3. There are none where other machines reach it: the gateways alone may.
 */
export function keyRing(config: Pick<AgentConfig, "keys" | "listen" | "open" | "gateway">, run: RunKey): KeyRing {
  if (config.gateway.length === 0) return new KeyRing(config.keys);
  const own: AccessKey = {
    name: "gateway",
    key: run.key,
    models: ["*"],
    maxConcurrent: 0,
    requestsPerMinute: 0,
    admin: true,
  };
  const isOpen = config.open || isLoopback(config.listen.host);
  if (config.keys.length === 0 && !isOpen) return new KeyRing([own]); // (3)
  return new KeyRing(config.keys, [own]); // (1), (2)
}
