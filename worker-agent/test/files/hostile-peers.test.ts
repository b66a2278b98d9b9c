import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, stat, symlink } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Clock } from "@farmgate/shared";
import { createSystemClock, Upstreams } from "@farmgate/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import { ByteRate } from "../../src/files/byte-rate.ts";
import { download } from "../../src/files/download.ts";
import { fetchFile, type FetchOptions } from "../../src/files/fetch-file.ts";
import { Shelf } from "../../src/files/shelf.ts";
import { tempDirectory } from "../support/agent-rig.ts";

const file = randomBytes(600_000);
const sha256 = createHash("sha256").update(file).digest("hex");
type Answer = (request: IncomingMessage, response: ServerResponse, from: number) => void;

const QUICK = 100;

/** Quicker than the real one, so that minutes of a peer's bad will pass in seconds. */
function quickClock(): Clock {
  const real = createSystemClock();
  return { now: () => QUICK * real.now(), wall: () => real.wall(), after: (ms, fn) => real.after(ms / QUICK, fn) };
}

/** A peer that answers so; `asked` counts. */
async function peer(answer: Answer) {
  const told = { url: "", asked: 0 };
  const server = createServer((request, response) => {
    told.asked += 1;
    response.on("error", () => {});
    answer(request, response, Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => (server.closeAllConnections(), void server.close()));
  told.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return told;
}

async function fetchFrom(url: string, directory: string, options: Partial<FetchOptions> = {}): Promise<string | null> {
  const upstreams = new Upstreams(1_000);
  onTestFinished(() => upstreams.destroy());
  return fetchFile({
    upstream: upstreams.to({ url, ca: null }),
    apiKey: null,
    path: "m.gguf",
    bytes: file.length,
    sha256,
    rate: new ByteRate(0),
    clock: createSystemClock(),
    signal: new AbortController().signal,
    received: () => {},
    shelf: new Shelf(directory),
    agent: "here",
    progress: () => {},
    ...options,
  });
}

const rangeHead = (from: number, bytes = file.length) => ({ "content-range": `bytes ${from}-${bytes - 1}/${bytes}` });
const honest: Answer = (_, response, from) => response.writeHead(206, rangeHead(from)).end(file.subarray(from));

describe("a peer that does not send what it told of", () => {
  it.each<[string, Answer, RegExp]>([
    ["another piece", (_, to, from) => to.writeHead(206, rangeHead(from + 1)).end(file), /another piece/],
    ["no range", (_, to) => to.writeHead(206).end(file), /another piece/],
    ["another length", (_, to, from) => to.writeHead(206, rangeHead(from, 9e14)).end(file), /another piece/],
    ["another file", (_, to) => to.writeHead(200).end(file), /another one now/],
    ["a redirect", (_, to) => to.writeHead(302, { location: "http://127.0.0.1:1/" }).end(), /answered 302/],
    ["errors", (_, to) => to.writeHead(500).end(), /answered 500/],
    ["more", (_, to, from) => to.writeHead(206, rangeHead(from)).end(Buffer.concat([file, file])), /more came/],
    [
      "garbage",
      (_, to, from) => to.writeHead(206, rangeHead(from)).end(randomBytes(file.length - from)),
      /another SHA/,
    ],
    ["endless headers", (_, to) => to.socket?.write(`HTTP/1.1 206 OK\r\n${"x: y\r\n".repeat(20_000)}`), /./],
    ["nothing", () => {}, /./],
    ["a byte a second", (_, to, from) => trickle(to, from), /too slowly/],
    [
      "a byte, and breaks off",
      (_, to, from) => void to.writeHead(206, rangeHead(from)).write(file.subarray(from, from + 1), () => to.destroy()),
      /./,
    ],
  ])("is given up: %s", async (_, answer, why) => {
    const directory = await tempDirectory();
    const bad = await peer(answer);
    expect(await fetchFrom(bad.url, directory, { clock: quickClock() })).toMatch(why);
    expect(bad.asked).toBeLessThanOrEqual(6);
    expect(await readdir(directory)).not.toContain("m.gguf");
    // What it left does not hurt the next one, but for what was of another file.
    const good = await peer(honest);
    const tries = [await fetchFrom(good.url, directory), await fetchFrom(good.url, directory)];
    expect(tries[0] ?? "here").toMatch(/here|another SHA-256/);
    expect(tries[1]).toBeNull();
    expect((await readFile(join(directory, "m.gguf"))).equals(file)).toBe(true);
  });

  it("is borne while it brings something between its errors", async () => {
    const directory = await tempDirectory();
    let turn = 0;
    const moody = await peer((_, to, from) => {
      turn += 1;
      if (turn % 2 === 0) to.writeHead(500).end();
      else to.writeHead(206, rangeHead(from)).write(file.subarray(from, from + 300_000), () => to.destroy());
    });
    expect(await fetchFrom(moody.url, directory, { clock: quickClock() })).toBeNull();
  });
});

function trickle(to: ServerResponse, from: number): void {
  to.writeHead(206, rangeHead(from));
  const timer = setInterval(() => to.write(file.subarray(from, from + 1)), 1_000 / QUICK);
  to.on("close", () => clearInterval(timer));
}

describe("a folder that does not take the file", () => {
  it.each<[string, (part: string, file: string) => unknown]>([
    ["a link in place of the unfinished file", (part) => symlink("/etc/passwd", part)],
    ["a pipe in place of it", (part) => execFileSync("/bin/sh", ["-c", 'mkfifo "$0"', part])],
    ["a folder in place of it", (part) => mkdir(part)],
    ["a folder of its name", (_, name) => mkdir(name)],
  ])("is said at once, and nothing is asked for: %s", async (_, spoil) => {
    const directory = await tempDirectory();
    await spoil(join(directory, "m.gguf.here.part"), join(directory, "m.gguf"));
    const source = await peer(honest);
    expect(await fetchFrom(source.url, directory)).toMatch(/ELOOP|EISDIR|no file/);
    expect(source.asked).toBe(0);
  });

  it("is said when it is full", async () => {
    const directory = await tempDirectory();
    expect(await fetchFrom((await peer(honest)).url, directory, { bytes: 9e15 })).toMatch(/no room/);
    expect((await stat(join(directory, "m.gguf.here.part"))).size).toBe(0);
  });
});

it("ends in the middle when it is told to, and goes on from there", async () => {
  const directory = await tempDirectory();
  const stop = new AbortController();
  const stalls = await peer((_, to, from) =>
    to.writeHead(206, rangeHead(from)).write(file.subarray(from, from + 200_000)),
  );
  const fetching = fetchFrom(stalls.url, directory, {
    signal: stop.signal,
    progress: (at) => at >= 200_000 && stop.abort(),
  });
  expect(await fetching).toMatch(/ended/);
  let from = -1;
  const good = await peer((request, to, at) => ((from = at), honest(request, to, at)));
  expect(await fetchFrom(good.url, directory)).toBeNull();
  expect(from).toBe(200_000);
});

it("writes all that came where the disk takes it in parts", async () => {
  const directory = await tempDirectory();
  const handle = await open(join(directory, "m.part"), "w+");
  onTestFinished(() => handle.close());
  const inParts = (bytes: Buffer, from: number, length: number, at: number) =>
    handle.write(bytes, from, Math.min(length, 1_000), at);
  const upstreams = new Upstreams(1_000);
  onTestFinished(() => upstreams.destroy());
  const { url } = await peer(honest);
  const partial = { handle: { write: inParts } as unknown as FileHandle, at: 0, hash: createHash("sha256") };
  const trouble = await download(partial, {
    upstream: upstreams.to({ url, ca: null }),
    apiKey: null,
    path: "m.gguf",
    bytes: file.length,
    sha256,
    rate: new ByteRate(0),
    clock: createSystemClock(),
    signal: new AbortController().signal,
    received: () => {},
  });
  expect(trouble).toBeNull();
  expect((await readFile(join(directory, "m.part"))).equals(file)).toBe(true);
});
