import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";

const CROWD = 1_000;
const source = fileURLToPath(new URL("../src/front-server.ts", import.meta.url));
/** A listener that does nothing else any more, and takes no connection, until it is told to end. */
const PROGRAM = `
import { readSync, writeSync } from "node:fs";
import { FrontServer } from ${JSON.stringify(source)};
const server = new FrontServer({ body: () => 1, headers: 16_384 });
const { port } = await server.listenOn({ host: "127.0.0.1", port: 0 });
writeSync(1, String(port));
readSync(0, Buffer.alloc(1));
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
  const child = spawn(process.execPath, flags, { stdio: ["pipe", "pipe", "inherit"] });
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
