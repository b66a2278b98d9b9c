import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";

const CROWD = 1_000;
const source = fileURLToPath(new URL("../src/index.ts", import.meta.url));
/** A listener that does nothing else any more, and takes no connection, until it is ended. */
const PROGRAM = `
import { writeSync } from "node:fs";
import { createSystemClock, FrontServer } from ${JSON.stringify(source)};
const limits = { body: () => 1, headers: 16_384, connections: () => 10_000, stallMs: () => 60_000 };
const server = new FrontServer(limits, createSystemClock());
const { port } = await server.listenOn({ host: "127.0.0.1", port: 0 });
writeSync(1, String(port));
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
process.exit(0);
`;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function systemAllows(): number {
  try {
    return Number(readFileSync("/proc/sys/net/core/somaxconn", "utf8"));
  } catch {
    return 0;
  }
}

it.runIf(systemAllows() > CROWD)("keeps a crowd of new connections while it is busy", async () => {
  const flags = ["--import", "tsx", "--conditions", "@farmgate/source", "--input-type=module", "--eval", PROGRAM];
  const child = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"] });
  ends.push(() => child.kill("SIGKILL"));
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  const connected = Array.from({ length: CROWD }, () => {
    const socket = connect({ port: Number(String(said)), host: "127.0.0.1" });
    ends.push(() => socket.destroy());
    socket.on("error", () => {});
    return once(socket, "connect");
  });
  expect(await Promise.all(connected)).toHaveLength(CROWD);
});
