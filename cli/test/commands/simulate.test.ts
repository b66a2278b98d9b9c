import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "../../src/program.ts";
import { fakeIo } from "../fake-io.ts";

const FARM = `
gateway: { listen: { port: 8400 } }
agents:
  - name: gpu
    listen: { port: 8401 }
    swap: { command: ./swap.sh }
    models:
      - { name: coder, url: "http://127.0.0.1:9001" }
      - { name: writer, url: "http://127.0.0.1:9001" }
simulate:
  gpu:
    coder: { load: 10s, loaded: true }
`;
const EXAMPLE = fileURLToPath(new URL("../../../docs/lan-farm.yaml", import.meta.url));

let folder = "";
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "farmgate-simulate-"));
  await writeFile(file("farm.yaml"), FARM);
  await writeFile(file("slow.yaml"), FARM.replace("load: 10s", "load: 60s"));
  const rows = Array.from({ length: 12 }, (_, i) => {
    const model = ["coder", "writer", "coder", "ghost"][i % 4];
    return JSON.stringify({ at: i * 4_000, model, input: 500, output: 60 });
  });
  await writeFile(file("mine.jsonl"), ['{"farmgate_trace":1}', ...rows].join("\n"));
  const ghosts = rows.filter((row) => row.includes("ghost"));
  await writeFile(file("ghosts.jsonl"), ['{"farmgate_trace":1}', ...ghosts].join("\n"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function simulate(...args: string[]) {
  const io = fakeIo(["simulate", ...args]);
  const code = await runProgram(io);
  return { code, ...io.printed };
}

describe("farmgate simulate", () => {
  it("replays a trace against a farm file, and says what it does not know", async () => {
    const { code, stdout } = await simulate("--farm", file("farm.yaml"), "--trace", file("mine.jsonl"));
    expect(code).toBe(0);
    expect(stdout).toContain("1 worker, 12 requests");
    expect(stdout).toContain("no worker has ghost (3 requests)");
    expect(stdout).toContain("gpu: writer assumed to be as most are");
    expect(stdout).toContain("as configured");
    expect(stdout).toContain("round-robin, arrival order");
    expect(stdout).toContain("What would help most");
    expect(stdout).toContain("memory for one more model on gpu");
  });

  it("sets another farm beside the first", async () => {
    const files = ["--farm", file("farm.yaml"), "--what-if", file("slow.yaml"), "--trace", file("mine.jsonl")];
    const { stdout } = await simulate(...files, "--no-advice");
    expect(stdout).toContain(`what if: ${file("slow.yaml")}`);
    expect(stdout).toMatch(/the difference .*\+/);
    expect(stdout).not.toContain("What would help");
  });

  it("tells the same as JSON, for the same seed the very same, and writes plots", async () => {
    const args = ["--farm", file("farm.yaml"), "--requests", "40", "--no-advice", "--json", "--seed", "7"];
    const first = await simulate(...args, "--out", file("out"));
    const told = JSON.parse(first.stdout) as { configured: { requests: number; served: number }; written: string[] };
    expect(told.configured.requests).toBeGreaterThanOrEqual(40);
    expect(told.configured.served).toBe(told.configured.requests);
    expect(await readdir(file("out"))).toEqual(expect.arrayContaining(["report.json", ...told.written]));
    expect(JSON.parse((await simulate(...args)).stdout)).toEqual({ ...told, written: [] });
  });

  it("tells swaps and makespan of many that come at once, by policy", async () => {
    const args = ["--farm", file("farm.yaml"), "--requests", "30", "--at-once", "--no-advice"];
    const { code, stdout } = await simulate(...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/30 requests within/);
    expect(stdout).toMatch(/swaps .*makespan/);
    expect(stdout).toContain("round-robin, arrival order");
  });

  it("has an example to begin with", async () => {
    const { code, stdout } = await simulate("--farm", EXAMPLE, "--requests", "60", "--no-advice");
    expect(code).toBe(0);
    expect(stdout).toContain("4 workers");
    expect(stdout).not.toContain("note:");
  });

  it.each([
    { says: "nothing in", args: ["--farm", "farm.yaml", "--trace", "ghosts.jsonl"] },
    { says: "there is no such file", args: ["--farm", "farm.yaml", "--trace", "none.jsonl"] },
    { says: "is the start of no known format", args: ["--farm", "farm.yaml", "--trace", "farm.yaml"] },
    { says: "none.yaml", args: ["--farm", "none.yaml"] },
    { says: "not valid YAML", args: ["--farm", "mine.jsonl"] },
  ])("ends with 2 and says: $says", async ({ says, args }) => {
    const { code, stderr } = await simulate(...args.map((arg) => (arg.startsWith("--") ? arg : file(arg))));
    expect(stderr).toContain(says);
    expect(code).toBe(2);
  });

  it("is of no use without a farm", async () => {
    expect((await simulate()).code).toBe(2);
    expect((await simulate("--farm", file("farm.yaml"), "--seed", "x")).code).toBe(2);
    expect((await simulate("--farm", file("farm.yaml"), "--target", "0s")).code).toBe(2);
  });
});
