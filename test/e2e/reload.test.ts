import { rename, rm, writeFile } from "node:fs/promises";
import { afterAll, expect, test } from "vitest";
import { Cleanup } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { until } from "../harness/until.ts";
import { logLines, start, told, written } from "./cli-process.ts";

const cleanup = new Cleanup();
afterAll(() => cleanup.run());

test("a gateway applies a changed file, refuses a bad one, and says what needs a restart", async () => {
  const [port = 0, nobody = 0, other = 0] = await freePorts(3);
  const text = (workers: string[], listen = port) =>
    `listen: { port: ${listen} }\nworkers: [${workers.map((name) => `{ name: ${name}, url: "http://127.0.0.1:${nobody}" }`).join()}]\n`;
  const workerNames = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/farm/workers`);
    return ((await answer.json()) as { workers: { name: string }[] }).workers.map((worker) => worker.name).join();
  };
  const file = await written(cleanup, "gateway.yaml", text(["a"]));
  // As an editor saves: a new file takes the old one's place.
  const replace = async (content: string) => rename(await written(cleanup, "new.yaml", content), file);
  const gateway = start(cleanup, ["gateway", "--config", file]);
  await told(gateway, "listening");

  await writeFile(file, text(["a", "b"]));
  await until(async () => (await workerNames()) === "a,b", "the second worker");

  await replace(`${text(["a", "a"])}drain: soon\n`);
  await told(gateway, "the changed configuration is refused");
  expect(gateway.stdout()).toContain("gateway.yaml:3: drain: must be a duration");
  expect(await workerNames()).toBe("a,b");

  await replace(text(["c"], other));
  await told(gateway, "a restart is needed for: listen");
  expect(await workerNames()).toBe("c");

  await rm(file);
  await told(gateway, "the configuration file is not there any more");
  expect(await workerNames()).toBe("c");

  await replace(text(["c"]));
  await told(gateway, "the file sets nothing new");
  const applied = logLines(gateway).filter(({ msg }) => /configuration/.test(msg) && !/refused|file/.test(msg));
  expect(applied.map(({ msg }) => msg)).toEqual(["configuration applied", "configuration applied"]);
});
