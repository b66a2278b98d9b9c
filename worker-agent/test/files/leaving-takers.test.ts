import { randomBytes } from "node:crypto";
import { mkdir, readdir, readlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { seededRandom } from "@farmgate/shared";
import { createLog, createSystemClock } from "@farmgate/wire";
import { expect, it, onTestFinished } from "vitest";
import { agentConfigSchema, startAgent } from "../../src/index.ts";
import { until } from "../support/conditions.ts";
import { tempDirectory } from "../support/agent-rig.ts";

const KEY = "k-peer-0123456789abcdef";
const RATE = 1_000_000;

async function source() {
  const directory = await tempDirectory();
  await mkdir(join(directory, "models"));
  await writeFile(join(directory, "models", "m.gguf"), randomBytes(8_000_000));
  const running = await startAgent({
    config: agentConfigSchema.parse({
      listen: { port: 0 },
      keys: [{ name: "farm", key: KEY }],
      files: { directory: "models", rate: "1mb" },
      models: [{ name: "m", url: "http://127.0.0.1:9", command: "true", files: ["m.gguf"] }],
      drain: "0s",
    }),
    directory,
    environment: process.env,
    clock: createSystemClock(),
    random: seededRandom(1),
    log: createLog("agent", "silent"),
    version: "0.1.0",
  });
  onTestFinished(() => running.close());
  return { running, file: join(directory, "models", "m.gguf") };
}

/** Asks for the file and leaves: at once, or when something of it came. Resolves with the bytes that came. */
function takeAndLeave(port: number, when: "at once" | "later"): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let bytes = 0;
    socket.on("error", () => {}).on("close", () => resolve(bytes));
    socket.on("data", (data) => {
      bytes += data.length;
      if (bytes > 1_000) socket.destroy();
    });
    const head = `GET /files/m.gguf HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${KEY}\r\n\r\n`;
    socket.write(head, () => when === "at once" && socket.destroy());
  });
}

async function openHandles(file: string): Promise<number> {
  const names = await readdir("/proc/self/fd");
  const links = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
  return links.filter((link) => link === file).length;
}

it.runIf(process.platform === "linux")(
  "those who leave early neither pass the rate by nor leave files open",
  async () => {
    const { running, file } = await source();
    const startedAt = performance.now();
    const leavers = Array.from({ length: 24 }, (_, i) => takeAndLeave(running.port, i % 3 === 0 ? "later" : "at once"));
    await Promise.all(leavers);
    const metrics = await (
      await fetch(`${running.url}/metrics`, { headers: { authorization: `Bearer ${KEY}` } })
    ).text();
    const sent = Number(/direction="out"} (\d+)/.exec(metrics)?.[1] ?? 0);
    expect(sent).toBeLessThanOrEqual(((performance.now() - startedAt) / 1_000 + 0.2) * RATE);
    await until(async () => (await openHandles(file)) === 0);
  },
);
