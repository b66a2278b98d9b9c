import { mkdir, rename, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { askChat, getJson } from "../harness/ask.ts";
import { Cleanup, runFarmgate } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import type { FarmWorker } from "../harness/gateway-farm.ts";
import { startHeldWorker } from "../harness/held-worker.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A gateway whose file is rewritten; each change is told by SIGHUP and waited for. */
async function startChanging(first: object) {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const base = { listen: { port }, health: { interval: "200ms", timeout: "1s" } };
  const gateway = await cleanup.program("gateway", { ...base, ...first }, url);
  const count = (text: string) => gateway.stdout().split(text).length - 1;
  let key = "none";
  const workers = async () => (await getJson<{ workers: FarmWorker[] }>(`${url}/farm/workers`, key)).workers;
  return {
    gateway,
    url,
    workers,
    use: (other: string) => (key = other),
    fresh: () => until(async () => (await workers()).every(({ catalog }) => catalog === "fresh"), "all is known"),
    async change(config: object) {
      const before = count('"msg":"configuration applied"');
      await writeFile(gateway.file, stringify({ ...base, ...config }));
      gateway.child.kill("SIGHUP");
      await until(() => count('"msg":"configuration applied"') === before + 1, "the change is in force");
    },
    metrics: async () => (await fetch(`${url}/metrics`)).text(),
  };
}

describe("a changed file under load", () => {
  it("cuts no stream, whatever becomes of workers, keys, limits, names and times", async () => {
    const [a, b] = [await startHeldWorker(cleanup), await startHeldWorker(cleanup)];
    const at = (name: string, { raw }: typeof a, more: object = {}) => ({
      name,
      url: raw.url,
      engine: "openai",
      ...more,
    });
    const farm = await startChanging({ workers: [at("a", a)] });
    await farm.fresh();
    const streams = Array.from({ length: 20 }, () => askChat(farm.url, "m"));
    await Promise.all(streams.map(({ firstByte }) => firstByte));
    // Removed, with its place taken by another; limits below what is in use; other times, so other connections.
    await farm.change({
      workers: [at("b", b, { maxConcurrent: 1 })],
      timeouts: { connect: "3s", idle: "20s" },
      limits: { queue: 1 },
      models: { aliases: { other: "m" } },
    });
    await farm.fresh();
    const aliased = askChat(farm.url, "other");
    streams.push(aliased);
    await aliased.firstByte;
    expect(aliased.head()?.headers["x-farmgate-worker"]).toBe("b");
    const waiting = askChat(farm.url, "m");
    await until(async () => (await farm.metrics()).includes("farmgate_queue_depth 1"), "one waits");
    // Renamed, at the address that it had, with more room: so the one that waits goes. A key where there was none.
    await farm.change({ workers: [at("c", b, { maxConcurrent: 2 })], keys: [{ name: "k", key: "key-one" }] });
    farm.use("key-one");
    await waiting.firstByte;
    expect(waiting.head()?.headers["x-farmgate-worker"]).toBe("c");
    streams.push(waiting);
    expect((await askChat(farm.url, "m").answer).status).toBe(401);
    // Another address under the same name, and nobody at all.
    await farm.change({ workers: [at("c", a)] });
    await farm.change({ workers: [] });
    farm.use("none");
    for (const worker of [a, b]) worker.release();
    for (const { answer } of streams) {
      const { status, complete, body } = await answer;
      expect([status, complete, body.endsWith("data: [DONE]\n\n")]).toEqual([200, true, true]);
    }
    const sockets = [a, b].flatMap(({ raw }) => raw.asked.map(({ socket }) => socket));
    await until(() => sockets.every(({ destroyed }) => destroyed), "the connections to them are closed");
    const counted = async () => {
      const lines = (await farm.metrics()).matchAll(/^farmgate_requests_total\{.*worker="other".*\} (\d+)$/gm);
      return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    await until(async () => (await counted()) === streams.length, "all are counted");
    expect(await farm.metrics()).not.toMatch(/worker="[abc]"/);
    expect(farm.gateway.output()).not.toMatch(/failed inside|"level":"error"/);
  });

  it("keeps a drained worker drained, also at another address", async () => {
    const [a, b] = [await startHeldWorker(cleanup), await startHeldWorker(cleanup)];
    const farm = await startChanging({ workers: [{ name: "a", url: a.raw.url }] });
    await farm.fresh();
    await fetch(`${farm.url}/farm/workers/a/drain`, { method: "POST" });
    for (const change of [{ weight: 2 }, { url: b.raw.url }]) {
      await farm.change({ workers: [{ name: "a", url: a.raw.url, ...change }] });
      await farm.fresh();
      expect((await farm.workers()).map(({ state }) => state)).toEqual(["draining"]);
    }
    const refused = await askChat(farm.url, "m").answer;
    expect(refused.status).toBe(503);
    expect(refused.body).toContain("a is draining");
  });
});

describe("a file that cannot be used as it is", () => {
  it("is refused, or taken once it is whole, also behind a link that is turned", async () => {
    const [port = 0, nobody = 0] = await freePorts(2);
    const url = `http://127.0.0.1:${port}`;
    const folder = await cleanup.folder();
    const text = (...names: string[]) =>
      `listen: { port: ${port} }\nworkers:\n${names.map((name) => `  - { name: ${name}, url: "http://127.0.0.1:${nobody}" }\n`).join("")}`;
    const inFolder = async (name: string, content: string) => {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, "gateway.yaml"), content);
    };
    // As Kubernetes mounts a file.
    await inFolder("one", text("a", "b"));
    await symlink("one", join(folder, "..data"));
    const file = join(folder, "gateway.yaml");
    await symlink(join("..data", "gateway.yaml"), file);
    const gateway = cleanup.add(runFarmgate(["gateway", "--config", file]), (program) => program.stop());
    const names = async () => {
      const answer = await fetch(`${url}/farm/workers`).catch(() => null);
      if (answer === null) return "";
      return ((await answer.json()) as { workers: FarmWorker[] }).workers.map(({ name }) => name).join();
    };
    const said = (words: string) => until(() => gateway.stdout().includes(words), words);
    await until(async () => (await names()) === "a,b", "the gateway is up");
    await truncate(file, 0);
    gateway.child.kill("SIGHUP");
    await said("workers: must be a list of workers");
    await writeFile(file, `${text("a")}  - { name: c, url: "http://127`);
    gateway.child.kill("SIGHUP");
    await said("gateway.yaml:4: ");
    expect(await names()).toBe("a,b");
    // Every cut at a line's end is good YAML.
    const seen = new Set<string>();
    const lines = text("c", "d", "e", "f").split("\n");
    for (const [i] of lines.entries()) {
      await writeFile(file, lines.slice(0, i + 1).join("\n"));
      gateway.child.kill("SIGHUP");
      await new Promise((resolve) => setTimeout(resolve, 200));
      seen.add(await names());
    }
    await until(async () => (await names()) === "c,d,e,f", "the whole file");
    expect([...seen].filter((one) => one !== "a,b" && one !== "c,d,e,f")).toEqual([]);
    await inFolder("two", text("g"));
    await symlink("two", join(folder, "..next"));
    await rename(join(folder, "..next"), join(folder, "..data"));
    await until(async () => (await names()) === "g", "what the link leads to now");
  });
});
