import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openConfig } from "../../src/config/open-config.ts";
import { programWarnings } from "../../src/config/programs.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "farmgate-scripts-"));
  await writeFile(join(folder, "plain.sh"), "#!/bin/sh\n");
  await writeFile(join(folder, "good.sh"), "#!/bin/sh\n");
  await chmod(join(folder, "good.sh"), 0o755);
});
afterAll(() => rm(folder, { recursive: true }));

async function warnings(text: string): Promise<string[]> {
  await writeFile(join(folder, "file.yaml"), text);
  const found = await programWarnings(await openConfig(join(folder, "file.yaml"), {}));
  return found.map(({ path, line, message }) => `${line} ${path}: ${message}`);
}

const agent = (command: string) => `name: a\nswap: { command: "${command}" }\n`;

test("a swap script must be there and be executable", async () => {
  expect(await warnings(agent("./good.sh --fast"))).toEqual([]);
  expect(await warnings(agent(join(folder, "good.sh")))).toEqual([]);
  expect(await warnings(agent("./none.sh"))).toEqual(["2 swap.command: there is no file ./none.sh"]);
  expect(await warnings(agent("./plain.sh --fast"))).toEqual([
    "2 swap.command: ./plain.sh is not executable: chmod +x ./plain.sh",
  ]);
  expect(await warnings(agent(".."))).toEqual([]);
  expect(await warnings(agent("../"))).toEqual(["2 swap.command: ../ is no file"]);
});

test("the command of a model must be there and be executable", async () => {
  const models = ["./good.sh", "./none.sh -v", ".."].map(
    (command, i) => `  - { name: m${i}, url: "http://127.0.0.1:${9000 + i}", command: "${command}" }\n`,
  );
  expect(await warnings(`models:\n${models.join("")}  - { name: bad, command: 5 }\n`)).toEqual([
    "3 models[1].command: there is no file ./none.sh",
  ]);
  expect(await warnings(`models:\n  - { name: m, url: "http://127.0.0.1:9", command: /tmp }\n`)).toEqual([
    "2 models[0].command: /tmp is no file",
  ]);
});

test("a command of the system is not looked for", async () => {
  expect(await warnings(agent("systemctl --user start"))).toEqual([]);
});

test("every agent of a farm file is looked at", async () => {
  const text = `agents:
  - { name: a, listen: { port: 1 }, swap: { command: ./good.sh } }
  - { name: b, listen: { port: 2 }, swap: { command: ./none.sh } }
`;
  expect(await warnings(text)).toEqual(["3 agents[1].swap.command: there is no file ./none.sh"]);
});
