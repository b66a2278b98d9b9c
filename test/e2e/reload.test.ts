import { renameSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { CliProcess, endAll, eventually, freePorts } from "./cli-process.ts";
import { Folder } from "./folder.ts";

const folder = new Folder();
afterAll(async () => {
  await endAll();
  folder.remove();
});

test("a gateway applies a changed file, refuses a bad one, and says what needs a restart", async () => {
  const [port = 0, nobody = 0, other = 0] = await freePorts(3);
  const text = (workers: string[], listen = port) =>
    `listen: { port: ${listen} }\nworkers: [${workers.map((name) => `{ name: ${name}, url: "http://127.0.0.1:${nobody}" }`).join()}]\n`;
  const workerNames = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/farm/workers`);
    return ((await answer.json()) as { workers: { name: string }[] }).workers.map((worker) => worker.name).join();
  };
  const file = folder.write("gateway.yaml", text(["a"]));
  const gateway = new CliProcess(["gateway", "--config", file]);
  await eventually("the gateway to answer", () => workerNames().catch(() => null));

  folder.write("gateway.yaml", text(["a", "b"]));
  await eventually("the second worker", async () => ((await workerNames()) === "a,b" ? true : null));

  // As an editor saves: a new file takes the old one's place.
  renameSync(folder.write("new.yaml", `${text(["a", "a"])}drain: soon\n`), file);
  await gateway.told("the changed configuration is refused");
  expect(gateway.stdout).toContain("gateway.yaml:3: drain: must be a duration");
  expect(await workerNames()).toBe("a,b");

  renameSync(folder.write("new.yaml", text(["c"], other)), file);
  await gateway.told("a restart is needed for: listen");
  expect(await workerNames()).toBe("c");
});
