import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { spoiled } from "../../../gateway/test/support/spoiled.ts";
import { damaged } from "../../../test/harness/damaged.ts";
import { runProgram } from "../../src/program.ts";
import { fakeIo } from "../fake-io.ts";

const folder = mkdtempSync(join(tmpdir(), "farmgate-damaged-"));
afterAll(() => rmSync(folder, { recursive: true }));

const docs = (kind: string) => readFileSync(new URL(`../../../docs/${kind}.yaml`, import.meta.url), "utf8");
const FARM = `gateway: { listen: { port: 8400 }, models: { aliases: { fast: m } } }
agents:
  - name: box
    listen: { port: 8401 }
    swap: { command: "./swap.sh --x 'a b'" }
    models: [{ name: m, url: "http://127.0.0.1:9001" }]
engines: [{ name: sim, listen: { port: 9001 }, models: [m] }]
`;
const FILES = [docs("gateway"), docs("agent"), FARM];
const HINTS = [
  "- ",
  ": ",
  "{",
  "[",
  "&a ",
  "*a",
  "!!set ",
  "? ",
  "<<: ",
  "# ",
  "---\n",
  "'",
  "|\n",
  "  ",
  "\t",
  "${A}",
  "url: ",
  "agents:\n",
];

/** What is wrong with how `farmgate check` took these bytes: it says `ok`, or each problem behind the file's name. */
async function faultsOf(bytes: Buffer | string): Promise<string[]> {
  const file = join(folder, "x.yaml");
  writeFileSync(file, bytes);
  const io = fakeIo(["check", file]);
  const code = await runProgram(io);
  const { stdout, stderr } = io.printed;
  const lines = stdout.trimEnd().split("\n");
  const odd = lines.filter((line, i) => (code === 0 ? i === 0 && line !== "ok" : !/^\S*x\.yaml(:\d+)?: ./.test(line)));
  const told = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("warning: "));
  return [...(code === 0 || code === 1 ? [] : [`exit ${code}`]), ...odd, ...told];
}

test("of bytes that were a configuration, `check` tells what is wrong, and never fails itself", async () => {
  await fc.assert(
    fc.asyncProperty(damaged(fc.constantFrom(...FILES), HINTS), async (bytes) => {
      expect(await faultsOf(bytes)).toEqual([]);
    }),
    { numRuns: 70 },
  );
});

test("of a configuration with odd values, `check` tells what is wrong, and never fails itself", async () => {
  const values = fc.oneof(...FILES.map((text) => spoiled(parse(text) as object)));
  await fc.assert(
    fc.asyncProperty(values, async (value) => {
      expect(await faultsOf(stringify(value))).toEqual([]);
    }),
    { numRuns: 70 },
  );
});
