import type { Server } from "node:http";
import type { Clock } from "@farmgate/shared";

/** How long callers may take to read the last bytes of their answers, in milliseconds. */
const FLUSH_MS = 1_000;
/** Connections become idle once their last answer has been read: looked for this often. */
const SWEEP_MS = 10;

/** Stops listening, gives answers that have ended time to be read, and then cuts what is left. */
export async function endConnections(server: Server, clock: Clock): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  let stopSweeping = () => {};
  const sweep = () => {
    server.closeIdleConnections();
    stopSweeping = clock.after(SWEEP_MS, sweep);
  };
  sweep();
  await new Promise<void>((resolve) => {
    const stopTimer = clock.after(FLUSH_MS, resolve);
    void closed.then(() => {
      stopTimer();
      resolve();
    });
  });
  stopSweeping();
  server.closeAllConnections();
}
