import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Cleanup } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { until } from "../harness/until.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MOST_BYTES = 2_000_000;
/** Nothing of the checkout, and of npm only what a shell has. */
const ENV = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => name !== "NODE_PATH" && !/^npm_(lifecycle|package|config_local)/.test(name),
  ),
);

interface Lock {
  packages: Record<string, { version: string; integrity?: string; dependencies?: Record<string, string> }>;
}

const cleanup = new Cleanup();
let tarball = "";
/** Where it is installed, and why it is not where that is empty. */
let folder = "";
let lack = "";

const json = async <T>(file: string) => JSON.parse(await readFile(file, "utf8")) as T;
const run = (program: string, args: readonly string[], cwd: string) =>
  promisify(execFile)(program, args, { cwd, env: ENV, timeout: 100_000, maxBuffer: 2 ** 26 });
const farmgate = (...args: string[]) => run(join(folder, "node_modules/.bin/farmgate"), args, folder);

beforeAll(async () => {
  const packed = await cleanup.folder();
  await run(process.execPath, [join(ROOT, "release/pack.mjs"), packed], ROOT);
  const { version } = await json<{ version: string }>(join(ROOT, "cli/package.json"));
  tarball = join(packed, `farmgate-${version}.tgz`);
  const empty = await cleanup.folder();
  try {
    await run("npm", ["install", tarball, "--prefer-offline", "--engine-strict", "--no-audit", "--no-fund"], empty);
    folder = empty;
  } catch (error) {
    const { stderr = "", message } = error as { stderr?: string; message: string };
    const code = /npm error code (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED)/.exec(
      stderr,
    );
    if (code === null) throw new Error(`${message}\n${stderr}`, { cause: error });
    lack = `the registry of packages cannot be reached (${code[1]}): the package was made, and not installed`;
  }
}, 120_000);
beforeEach((context) => context.skip(lack !== "", lack));
afterAll(() => cleanup.run());

describe("the package, installed in an empty folder", () => {
  test("is small, and has the program, its licence and its words, but no sources, tests or paths of the checkout", async () => {
    expect((await stat(tarball)).size).toBeLessThan(MOST_BYTES);
    const own = join(folder, "node_modules/farmgate");
    const files = await readdir(own, { recursive: true });
    expect(files).toEqual(
      expect.arrayContaining(["LICENSE", "README.md", "CHANGELOG.md", "package.json", "dist/main.js"]),
    );
    expect(files.filter((file) => /\.(ts|map|tsbuildinfo)$|test|^node_modules/.test(file))).toEqual([]);
    const wrong: string[] = [];
    for (const file of files) {
      if (!/\.\w+$/.test(file)) continue;
      const text = await readFile(join(own, file), "utf8");
      if (text.includes(dirname(join(ROOT, "x"))) || text.includes("sourceMappingURL")) wrong.push(file);
      if (!file.endsWith(".md")) continue;
      const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = ""]) => join(dirname(file), link));
      wrong.push(...links.filter((link) => !files.includes(link)).map((link) => `${file} links to ${link}`));
    }
    expect(wrong).toEqual([]);
  });

  test("has what it depends on as the lock file has it", async () => {
    const locked = (await json<Lock>(join(ROOT, "package-lock.json"))).packages;
    const { "node_modules/farmgate": own, ...others } = (
      await json<Lock>(join(folder, "node_modules/.package-lock.json"))
    ).packages;
    const named = Object.keys(own?.dependencies ?? {});
    expect(named).toEqual(expect.arrayContaining(["commander", "fastify", "pino", "undici", "yaml", "zod"]));
    const wrong = Object.entries(others).filter(([at, { integrity }]) => integrity !== locked[at]?.integrity);
    expect(wrong.map(([at, { version }]) => `${at} ${version}`)).toEqual([]);
  });

  test("runs the commands that need no farm", async () => {
    const { version } = await json<{ version: string }>(join(ROOT, "package.json"));
    const simulate = [
      "simulate",
      "--farm",
      "node_modules/farmgate/docs/lan-farm.yaml",
      "--requests",
      "20",
      "--no-advice",
    ];
    const [told, help, checked, simulated] = await Promise.all([
      farmgate("--version"),
      farmgate("--help"),
      farmgate("check", "node_modules/farmgate/demo/farm.yaml"),
      farmgate(...simulate),
    ]);
    expect(told.stdout).toBe(`${version}\n`);
    expect(help.stdout).toContain("Usage: farmgate");
    expect(checked.stdout).toMatch(/^ok\n/);
    expect(simulated.stdout).toContain("Virtual time");
  });

  test("`npx farmgate up --demo` answers a chat after a swap, tells one version everywhere, and ends when told to", async () => {
    const demo = join(folder, "node_modules/farmgate/demo/farm.yaml");
    const text = await readFile(demo, "utf8");
    const taken = [...new Set(text.match(/\b(84|91)\d\d\b/g))];
    const free = await freePorts(taken.length);
    const portOf = new Map(taken.map((port, i) => [port, String(free[i])]));
    await writeFile(
      demo,
      text.replace(/\b(84|91)\d\d\b/g, (port) => portOf.get(port) ?? port),
    );

    // A group of its own, as a terminal has it: its Ctrl-C reaches npx and the program.
    const npx = spawn("npx", ["farmgate", "up", "--demo"], { cwd: folder, env: ENV, detached: true, stdio: "pipe" });
    const group = (signal: NodeJS.Signals) => npx.exitCode ?? npx.signalCode ?? process.kill(-(npx.pid ?? 0), signal);
    cleanup.add(npx, () => group("SIGKILL"));
    let printed = "";
    for (const stream of [npx.stdout, npx.stderr]) stream.on("data", (data: Buffer) => (printed += data.toString()));
    await until(
      () => {
        if (npx.exitCode !== null) throw new Error(`it ended:\n${printed}`);
        return printed.includes("npx farmgate status");
      },
      "the welcome",
      60_000,
    );

    const url = `http://127.0.0.1:${portOf.get("8400")}`;
    const body = JSON.stringify({
      model: "llama-3.3-70b",
      max_tokens: 5,
      messages: [{ role: "user", content: "Hello" }],
    });
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    expect(answer.headers.get("x-farmgate-worker")).toBe("gpu-box");
    expect(await answer.json()).toMatchObject({ choices: [{ message: { role: "assistant" } }] });

    const { version } = await json<{ version: string }>(join(ROOT, "cli/package.json"));
    const agent = `http://127.0.0.1:${portOf.get("8401")}`;
    for (const one of [url, agent]) expect(await (await fetch(`${one}/health`)).json()).toMatchObject({ version });
    const status = await farmgate("status", "--gateway", url);
    expect(status.stdout).toMatch(/^gpu-box +healthy .*llama-3\.3-70b$/m);

    const ended = once(npx, "exit");
    group("SIGINT");
    await ended;
    await until(
      () =>
        fetch(agent).then(
          () => false,
          () => true,
        ),
      "the farm has ended",
    );
  });
});
