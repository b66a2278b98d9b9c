import { chmod, mkdir, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { askChat, getJson } from "../harness/ask.ts";
import { Cleanup, runFarmgate } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { type FarmWorker, startTestEngine } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const engine = () => startTestEngine(cleanup, { models: [{ name: "m", loaded: true }], slots: 64, tokensPerSecond: 40 });

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
  test("cuts no stream, whatever becomes of workers, keys, limits, names and times", async () => {
    const [a, b] = [await engine(), await engine()];
    const farm = await startChanging({ workers: [{ name: "a", url: a.url }] });
    await farm.fresh();
    const first = Array.from({ length: 20 }, () => askChat(farm.url, "m", { max_tokens: 150 }));
    await Promise.all(first.map(({ firstByte }) => firstByte));
    // Removed, with its place taken by another; limits below what is in use; other connections.
    await farm.change({
      workers: [{ name: "b", url: b.url, maxConcurrent: 1 }],
      timeouts: { connect: "3s", idle: "20s" },
      limits: { queue: 5 },
      models: { aliases: { other: "m" } },
    });
    await farm.fresh();
    const second = askChat(farm.url, "other", { max_tokens: 60 });
    await second.firstByte;
    expect(second.head()?.headers["x-farmgate-worker"]).toBe("b");
    // Renamed, at the address that it had; a key where there was none.
    const keys = [{ name: "k", key: "key-one" }];
    await farm.change({ workers: [{ name: "c", url: b.url, maxConcurrent: 1 }], keys });
    farm.use("key-one");
    await farm.fresh();
    const third = askChat(farm.url, "m", { max_tokens: 60 });
    expect((await third.answer).status).toBe(401);
    expect((await askChat(farm.url, "other").answer).status).toBe(401);
    // Another address under the same name, and back.
    await farm.change({ workers: [{ name: "c", url: a.url }] });
    await farm.change({ workers: [] });
    farm.use("none");
    for (const { answer } of [...first, second]) {
      const { status, complete, body } = await answer;
      expect([status, complete, body.endsWith("data: [DONE]\n\n")]).toEqual([200, true, true]);
    }
    const metrics = await farm.metrics();
    expect(metrics).not.toMatch(/worker="[abc]"/);
    expect(farm.gateway.output()).not.toMatch(/failed inside|"level":"error"/);
  }, 30_000);

  test("keeps a drained worker drained, also at another address", async () => {
    const [a, b] = [await engine(), await engine()];
    const farm = await startChanging({ workers: [{ name: "a", url: a.url }] });
    await farm.fresh();
    await fetch(`${farm.url}/farm/workers/a/drain`, { method: "POST" });
    for (const worker of [{ name: "a", url: a.url, weight: 2 }, { name: "a", url: b.url }]) {
      await farm.change({ workers: [worker] });
      await farm.fresh();
      expect((await farm.workers()).map(({ state }) => state)).toEqual(["draining"]);
    }
    const refused = await askChat(farm.url, "m").answer;
    expect(refused.status).toBe(503);
    expect(refused.body).toContain("a is draining");
  });
});

describe("a file that cannot be used as it is", () => {
  /** Workers by name, as the gateway has them. */
  async function startFile(place: (folder: string, text: string) => Promise<string>) {
    const [port = 0, nobody = 0] = await freePorts(2);
    const url = `http://127.0.0.1:${port}`;
    const folder = await cleanup.folder();
    const text = (...names: string[]) =>
      `listen: { port: ${port} }\nworkers:\n${names.map((name) => `  - { name: ${name}, url: "http://127.0.0.1:${nobody}" }\n`).join("")}`;
    const file = await place(folder, text("a", "b"));
    const gateway = cleanup.add(runFarmgate(["gateway", "--config", file]), (program) => program.stop());
    const names = async () => {
      const answer = await fetch(`${url}/farm/workers`).catch(() => null);
      if (answer === null) return "";
      return ((await answer.json()) as { workers: FarmWorker[] }).workers.map(({ name }) => name).join();
    };
    await until(async () => (await names()) === "a,b", "the gateway is up");
    return { file, folder, text, names, said: (words: string) => until(() => gateway.stdout().includes(words), words) };
  }
  const plain = async (folder: string, text: string) => {
    const file = join(folder, "gateway.yaml");
    await writeFile(file, text);
    return file;
  };

  test("is refused, with the reason: empty, cut off inside a line, not to be read", async () => {
    const { file, text, names, said } = await startFile(plain);
    await truncate(file, 0);
    await said("workers: must be a list of workers");
    await writeFile(file, `${text("a")}  - { name: c, url: "http://127`);
    await said("gateway.yaml:4: ");
    await rm(file);
    await mkdir(file);
    await said("cannot be read: it is a folder");
    expect(await names()).toBe("a,b");
    await rm(file, { recursive: true });
    await writeFile(file, text("a"));
    await until(async () => (await names()) === "a", "a good file again");
  });

  test("is not taken while it is being written", async () => {
    const { file, text, names } = await startFile(plain);
    const seen = new Set<string>();
    const whole = text("c", "d", "e", "f", "g");
    // Every cut at a line's end is good YAML.
    for (const [i] of whole.split("\n").entries()) {
      await writeFile(file, whole.split("\n").slice(0, i + 1).join("\n"));
      await new Promise((resolve) => setTimeout(resolve, 300));
      seen.add(await names());
    }
    await until(async () => (await names()) === "c,d,e,f,g", "the whole file");
    expect([...seen].filter((one) => one !== "a,b" && one !== "c,d,e,f,g")).toEqual([]);
  });

  test("is seen behind a link that is turned to another folder, and when only its rights change", async () => {
    const { folder, text, names, file, said } = await startFile(async (into, first) => {
      await mkdir(join(into, "one"));
      await writeFile(join(into, "one", "gateway.yaml"), first);
      await symlink("one", join(into, "..data"));
      await symlink(join("..data", "gateway.yaml"), join(into, "gateway.yaml"));
      return join(into, "gateway.yaml");
    });
    await mkdir(join(folder, "two"));
    await writeFile(join(folder, "two", "gateway.yaml"), text("c", "d"));
    await symlink("two", join(folder, "..next"));
    await rename(join(folder, "..next"), join(folder, "..data"));
    await until(async () => (await names()) === "c,d", "what the link leads to now");
    await chmod(file, 0o640);
    await said("nothing that it sets");
  });
});
