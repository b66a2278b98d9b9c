import { createServer } from "node:net";

/** Below the ports that the system gives to outgoing connections, which could take one before its program does. */
const FIRST = 20_000;
/** Files of tests run side by side: each of these processes has a range of its own. */
const RANGE = 1_000;
const RANGES = 12;

const first = FIRST + (Number(process.env["VITEST_POOL_ID"] ?? process.pid) % RANGES) * RANGE;
let next = Math.floor(Math.random() * RANGE);

/** Ports on loopback that nobody listens on now, for programs that must know theirs before they start. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count && tries < RANGE; tries += 1) {
    const port = first + (next % RANGE);
    next += 1;
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
