import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Cleanup } from "./farmgate-process.ts";

/**
 * A TCP proxy like a firewall that forgets: from `forget` on nothing of the connections that are open then gets through,
 * in either direction, and neither side is told. New ones are served as ever.
 */
export async function startDroppingProxy(cleanup: Cleanup, target: string) {
  const sockets = new Set<Socket>();
  let era = 0;
  let opened = 0;
  const server = createServer({ noDelay: true }, (caller) => {
    const own = era;
    opened += 1;
    const engine = connect(Number(new URL(target).port), "127.0.0.1");
    for (const [from, to] of [
      [caller, engine],
      [engine, caller],
    ] as const) {
      sockets.add(from);
      from.on("data", (data) => own === era && to.write(data));
      from.on("end", () => own === era && to.end());
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        if (own === era) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.add(server, () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Connections so far. */
    opened: () => opened,
    forget: () => void (era += 1),
  };
}
