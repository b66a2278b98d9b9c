import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, open, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Clock } from "@farmgate/shared";
import { createSystemClock, type Log, Upstreams } from "@farmgate/wire";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { agentConfigSchema } from "../../src/index.ts";
import { FileKeeper } from "../../src/files/file-keeper.ts";
import { Shelf } from "../../src/files/shelf.ts";
import { AgentMetrics } from "../../src/metrics.ts";
import { tempDirectory } from "../support/agent-rig.ts";
import { until } from "../support/conditions.ts";
import { HandClock } from "../support/hand-clock.ts";

const LOOK_EVERY_MS = 60_000;
const sha = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** A keeper of models of one file each, named as their files. */
async function keeperOf(names: readonly string[], clock: Clock, peers: readonly string[] = []) {
  const directory = await tempDirectory();
  const upstreams = new Upstreams(1_000);
  const errors: string[] = [];
  const log = { info: () => {}, warn: () => {}, error: (_: object, text: string) => errors.push(text) };
  const keeper = new FileKeeper({
    config: agentConfigSchema.parse({
      name: "here",
      files: { directory, peers: peers.map((url) => ({ url })) },
      models: names.map((name, i) => ({ name, url: `http://127.0.0.1:${9 + i}`, command: "true", files: [name] })),
    }),
    directory,
    upstreams,
    metrics: new AgentMetrics(),
    onHere: () => {},
    clock,
    log: log as unknown as Log,
  });
  onTestFinished(async () => {
    await keeper.close();
    await upstreams.destroy();
  });
  const isAbsent = (name: string) => keeper.weightsOf(name, clock.now()).absent;
  return { keeper, directory, errors, isAbsent };
}

type Told = Record<string, { bytes: Buffer; sha256: string | null }>;

/** A peer that tells of these files, and sends one by `send`. `asked`: for which files, one after the other. */
async function peerOf(list: () => Told, send: (to: ServerResponse, rest: Buffer) => void) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const told = list();
    if (request.url === "/files") {
      const files = Object.entries(told).map(([path, { bytes, sha256 }]) => ({
        path,
        models: [path],
        state: "here",
        bytes: bytes.length,
        sha256,
      }));
      return void response.end(JSON.stringify({ files }));
    }
    const path = (request.url ?? "").slice("/files/".length);
    asked.push(path);
    const { bytes } = told[path] ?? { bytes: Buffer.alloc(0) };
    const first = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1]);
    response.on("error", () => {});
    response.writeHead(206, { "content-range": `bytes ${first}-${bytes.length - 1}/${bytes.length}` });
    send(response, bytes.subarray(first));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

describe("files that somebody puts there", () => {
  it("are seen within a minute, where nobody could be asked for them", async () => {
    const clock = new HandClock();
    const { keeper, directory, isAbsent } = await keeperOf(["m"], clock);
    keeper.start();
    await until(() => clock.pending.length > 0);
    expect(isAbsent("m")).toBe(true);
    await writeFile(join(directory, "m"), "weights");
    clock.move(LOOK_EVERY_MS);
    await until(() => !isAbsent("m"));
  });

  it("are seen while another one comes", async () => {
    const clock = new HandClock();
    let sending: ServerResponse | null = null;
    const large = { bytes: randomBytes(400_000), sha256: "0".repeat(64) };
    const peer = await peerOf(
      () => ({ large }),
      (to) => (sending = to),
    );
    const { keeper, directory, isAbsent } = await keeperOf(["large", "m"], clock, [peer.url]);
    keeper.start();
    await until(() => sending !== null && clock.pending.includes(LOOK_EVERY_MS));
    expect(isAbsent("m")).toBe(true);
    await writeFile(join(directory, "m"), "weights");
    // It sends a piece in time, so that it is not given up.
    for (let i = 0; i < 3; i += 1) {
      (sending as ServerResponse | null)?.write(large.bytes.subarray(i * 100_000, (i + 1) * 100_000));
      await until(async () => (await keeper.list())[0]?.fetched === (i + 1) * 100_000);
      clock.move(LOOK_EVERY_MS / 3);
    }
    await until(() => !isAbsent("m"));
    expect(peer.asked).toEqual(["large"]);
  });

  it("are seen after a look that failed, which is logged", async () => {
    const clock = new HandClock();
    const { keeper, directory, errors, isAbsent } = await keeperOf(["m"], clock);
    vi.spyOn(keeper.shelf, "bytesOf").mockRejectedValueOnce(new Error("EIO: i/o error, fstat"));
    await writeFile(join(directory, "m"), "weights");
    keeper.start();
    await until(() => clock.pending.length > 0);
    expect(errors).toEqual([expect.stringMatching(/look at the files .* failed/)]);
    expect(keeper.weightsOf("m", 0).bytes).toBeNull();
    clock.move(LOOK_EVERY_MS);
    await until(() => keeper.weightsOf("m", 0).bytes === "weights".length);
    expect(isAbsent("m")).toBe(false);
  });
});

it("a file that cannot be told of is none, and is not kept open", async () => {
  const directory = await tempDirectory();
  await writeFile(join(directory, "m"), "weights");
  const shelf = new Shelf(directory);
  const probe = await open(join(directory, "m"));
  await probe.close();
  const opened: FileHandle[] = [];
  const stat = vi.spyOn(Object.getPrototypeOf(probe) as FileHandle, "stat").mockImplementation(function (
    this: FileHandle,
  ) {
    opened.push(this);
    return Promise.reject(new Error("ESTALE: stale file handle, fstat"));
  });
  onTestFinished(() => stat.mockRestore());
  expect([await shelf.open("m"), await shelf.bytesOf("m"), await shelf.look("m")]).toEqual([null, null, null]);
  await shelf.checked("m", "0".repeat(64));
  expect(opened.map(({ fd }) => fd)).toEqual([-1, -1, -1, -1]);
  stat.mockRestore();
  expect(await shelf.look("m")).toEqual({ bytes: "weights".length, sha256: null });
});

it("a peer that lets the first piece wait is not taken to be slow", async () => {
  const [small, large] = [randomBytes(300_000), randomBytes(1_000_000)];
  const files = {
    small: { bytes: small, sha256: sha(small) },
    large: { bytes: large, sha256: sha(large) },
  };
  // Time goes by with what the peers do alone.
  let now = 0;
  const clock: Clock = { ...createSystemClock(), now: () => now };
  const waiting = await peerOf(
    () => files,
    (to, rest) => ((now += 25_000), void to.end(rest)),
  );
  const slow = await peerOf(
    () => ({ large: files.large }),
    (to, rest) => {
      let at = 0;
      const drip = () => {
        if (to.destroyed || at >= rest.length) return void to.end();
        now += 4_000;
        to.write(rest.subarray(at, (at += 64_000)), () => setTimeout(drip, 5));
      };
      drip();
    },
  );
  const { keeper } = await keeperOf(["small", "large"], clock, [waiting.url, slow.url]);
  keeper.start();
  await until(async () => (await keeper.list()).every(({ state }) => state === "here"));
  expect([waiting.asked, slow.asked]).toEqual([["small", "large"], []]);
});

it("a file that broke off is not told to come while the one peer that is left still reads it for its hash", async () => {
  let asked = 0;
  const bytes = randomBytes(1_000);
  // What it sends is not what it told of; and then it does not know what it has.
  const peer = await peerOf(
    () => ({ m: { bytes, sha256: asked === 0 ? "0".repeat(64) : null } }),
    (to, rest) => ((asked += 1), void to.end(rest)),
  );
  const clock = new HandClock();
  const { keeper } = await keeperOf(["m"], clock, [peer.url]);
  keeper.start();
  await until(async () => asked > 0 && (await keeper.list())[0]?.state !== "fetching");
  const [entry] = await keeper.list();
  expect(entry).toMatchObject({ state: "missing", bytes: bytes.length });
  expect(entry).not.toHaveProperty("from");
});
