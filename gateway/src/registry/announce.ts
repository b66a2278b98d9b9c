import { hostname } from "node:os";
import type { Multicast, OpenMulticast } from "@farmgate/wire";
import type { Farm } from "../farm.ts";

/**
 * Tells the local network where the gateway is, where its file says so. Agents that look for one register there by their
 * keys; nothing that is told on the network gets in by that. What comes back takes it back; it never rejects.
 */
export function announceGateway(farm: Farm, port: number, open: OpenMulticast): () => Promise<void> {
  const { config, clock, log, hub, version } = farm;
  if (!config.discovery.mdns) return () => Promise.resolve();
  const trouble = (err: unknown) => log.warn({ err }, "telling the local network of this gateway does not work");
  const announced = open(clock, trouble).then(
    (multicast) => {
      const [machine = ""] = hostname().split(".");
      const txt = { version, tls: config.tls === null ? "0" : "1" };
      multicast.announce({ name: `Farmgate on ${machine.slice(0, 30)} (${hub.id.slice(0, 12)})`, port, txt });
      return multicast;
    },
    (error: unknown): Multicast | null => {
      trouble(error);
      return null;
    },
  );
  return async () => {
    const multicast = await announced;
    await multicast?.close();
  };
}
