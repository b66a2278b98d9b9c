// What a copy of a model's file between two agents costs, over breaks, beside a plain download from nginx.
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { seededRandom } from "@farmgate/shared";
import type { Children } from "../bench/process/children.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { NGINX, startNginx } from "../harness/nginx.ts";
import { until } from "../harness/until.ts";

const KEY = "k-measure-0123456789abcdef";
const FILE = "weights.gguf";
const MB = 1_024 ** 2;

/** Prints a table. `quick`: 100 MB instead of 1 GB. */
export async function measurePeerCopy(_children: Children, { quick }: { quick: boolean }): Promise<void> {
  const megabytes = quick ? 100 : 1_024;
  const cleanup = new Cleanup();
  try {
    const [sourcePort = 0, targetPort = 0] = await freePorts(2);
    const folders = await Promise.all([1, 2, 3].map(() => cleanup.folder()));
    const [source = "", target = "", web = ""] = folders;
    for (const folder of folders) await mkdir(join(folder, "models"));
    const sha256 = await writeWeights(join(source, "models", FILE), megabytes);
    const url = `http://127.0.0.1:${sourcePort}`;
    const config = (name: string, port: number, folder: string, peers: object[]) => ({
      name,
      listen: { port },
      keys: [{ name: "peer", key: KEY }],
      files: { directory: join(folder, "models"), peers },
      models: [{ name: "m", url: "http://127.0.0.1:9", command: "false", files: [FILE] }],
      drain: "0s",
    });
    await cleanup.program("agent", config("source", sourcePort, source, []), url);
    const listed = async (at: string) => {
      const answer = await fetch(`${at}/files`, { headers: { authorization: `Bearer ${KEY}` } });
      return ((await answer.json()) as { files: { state: string; sha256: string | null; error?: string }[] }).files[0];
    };
    const hashedAt = performance.now();
    await until(async () => (await listed(url))?.sha256 === sha256, "the source knows the hash", 120_000);
    const hashing = performance.now() - hashedAt;

    const cuts = [0.3, 0.4].map((share) => Math.floor(share * megabytes * MB));
    const breaks = cuts.length;
    const through = await startCuttingProxy(cleanup, sourcePort, cuts);
    const copyAt = performance.now();
    const to = `http://127.0.0.1:${targetPort}`;
    await cleanup.program("agent", config("target", targetPort, target, [{ url: through, apiKey: KEY }]), to);
    await until(async () => (await listed(to))?.state === "here", "the copy", 300_000);
    const copying = performance.now() - copyAt;
    const right = (await hashOf(join(target, "models", FILE))) === sha256;

    const rate = (ms: number) => `${(megabytes / (ms / 1_000)).toFixed(0)} MB/s`;
    console.log(`a file of ${megabytes} MB, on loopback`);
    console.log(`  SHA-256 at the source      ${rate(hashing)}`);
    console.log(
      `  copy between two agents    ${rate(copying)}, ${breaks - cuts.length} breaks, checked: ${right ? "right" : "WRONG"}`,
    );
    if (NGINX === undefined) return console.log("  nginx is not installed");
    const plain = await downloadFromNginx(cleanup, NGINX, join(source, "models"), join(web, "models", FILE));
    console.log(
      `  plain download from nginx  ${rate(plain)} (copy takes ${(copying / plain).toFixed(1)} times as long)`,
    );
  } finally {
    await cleanup.run();
  }
}

/** Random bytes of a seed; their SHA-256 in hex. */
async function writeWeights(file: string, megabytes: number): Promise<string> {
  const random = seededRandom(1);
  const piece = Buffer.from(Uint8Array.from({ length: MB }, () => random() * 256));
  const hash = createHash("sha256");
  const pieces = function* () {
    for (let i = 0; i < megabytes; i += 1) {
      piece.writeUInt32LE(i, 0);
      const own = Buffer.from(piece);
      hash.update(own);
      yield own;
    }
  };
  await pipeline(pieces, createWriteStream(file));
  return hash.digest("hex");
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

/** Breaks the connections on which a file comes, the first after `cuts[0]` bytes, and so on; later ones stay whole. */
async function startCuttingProxy(cleanup: Cleanup, port: number, cuts: number[]): Promise<string> {
  const server = createServer((caller) => {
    const source = connect(port, "127.0.0.1");
    let left = Number.POSITIVE_INFINITY;
    caller.on("error", () => {}).on("close", () => source.destroy());
    source.on("error", () => {}).on("close", () => caller.destroy());
    caller.on("data", (bytes: Buffer) => {
      if (bytes.toString("latin1").startsWith("GET /files/")) left = cuts.shift() ?? Number.POSITIVE_INFINITY;
      source.write(bytes);
    });
    source.on("data", (bytes: Buffer) => {
      if (!caller.write(bytes.subarray(0, Math.max(0, left)))) {
        source.pause();
        caller.once("drain", () => source.resume());
      }
      left -= bytes.length;
      if (left <= 0) caller.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.add(server, (proxy) => proxy.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Milliseconds until the file lies on the disk again. */
async function downloadFromNginx(cleanup: Cleanup, nginx: string, root: string, target: string): Promise<number> {
  const { url } = await startNginx(cleanup, nginx, { root });
  const at = performance.now();
  const answer = await new Promise<IncomingMessage>((resolve) => get(`${url}/${FILE}`, { agent: false }, resolve));
  await pipeline(answer, createWriteStream(target));
  return performance.now() - at;
}
