import { connect } from "node:net";
import type { Clock } from "@farmgate/shared";
import { pause } from "../swap/pause.ts";

/** Limit on one try, in milliseconds. */
const TRY_MS = 1_000;
const LOOK_MS = 50;

/** Whether somebody accepts connections at this URL's address. */
export function accepts(url: string, clock: Clock): Promise<boolean> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) || (protocol === "https:" ? 443 : 80) });
    const end = (accepted: boolean) => {
      stopTimer();
      socket.destroy();
      resolve(accepted);
    };
    const stopTimer = clock.after(TRY_MS, () => end(false));
    // Where nobody listens, a connection of this machine to itself can now and then meet its own other end.
    socket.on("connect", () => end(socket.localPort !== socket.remotePort));
    socket.on("error", () => end(false));
  });
}

/** Waits until nobody accepts connections there; false when somebody still does after `limitMs`. */
export async function waitClosed(url: string, limitMs: number, clock: Clock): Promise<boolean> {
  const deadline = clock.now() + limitMs;
  while (await accepts(url, clock)) {
    if (clock.now() >= deadline) return false;
    await pause(LOOK_MS, clock);
  }
  return true;
}
