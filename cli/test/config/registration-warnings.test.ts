import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../../src/program.ts";
import { fakeIo } from "../fake-io.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "farmgate-registering-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function warnings(text: string): Promise<string[]> {
  const file = join(folder, "file.yaml");
  await writeFile(file, text);
  const io = fakeIo(["check", file]);
  expect([await runProgram(io), io.printed.stdout.split("\n")[0]]).toEqual([0, "ok"]);
  return io.printed.stderr.split("\n").filter((line) => line !== "");
}

const UNREACHED = /file.yaml:(\d): .*gateway.*: the agent listens on 127.0.0.1, where a gateway on another machine/;

test("an agent on a loopback address is not reached by a gateway elsewhere", async () => {
  const agent = "name: a\ngateway:";
  expect(await warnings(`${agent} { url: "http://192.0.2.1:8400" }\n`)).toEqual([expect.stringMatching(UNREACHED)]);
  expect(await warnings(`${agent}\n  - { url: "http://192.0.2.1:8400" }\n`)).toHaveLength(1);
  for (const fine of ['{ url: "http://127.0.0.1:8400" }', '{ url: "http://192.0.2.1:1", advertise: "http://a:1" }']) {
    expect(await warnings(`${agent} ${fine}\n`)).toEqual([]);
  }
  expect(await warnings(`listen: { host: 0.0.0.0 }\n${agent} { url: "http://192.0.2.1:8400" }\n`)).toEqual([]);
});

test("a gateway that is looked for gets the key, whoever it is, unless somebody vouches for it", async () => {
  const found = await warnings("name: a\nlisten: { host: 0.0.0.0 }\ngateway: { discover: true, key: k }\n");
  expect(found).toEqual([expect.stringContaining("gets the key")]);
});

test("the agents of a farm file are looked at too", async () => {
  const found = await warnings('agents:\n  - name: a\n    gateway: { url: "http://192.0.2.1:8400" }\n');
  expect(found).toEqual([expect.stringContaining("agents[0].gateway")]);
});
