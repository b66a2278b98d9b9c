import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { runProgram } from "../../src/program.ts";
import { fakeIo } from "../fake-io.ts";

const FARM = fileURLToPath(new URL("../../../docs/lan-farm.yaml", import.meta.url));

async function simulate(...flags: string[]) {
  const io = fakeIo(["simulate", ...flags]);
  return { code: await runProgram(io), ...io.printed };
}

async function folder(files: Record<string, string>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "farmgate-simulate-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return directory;
}

const trace = (...rows: object[]) => [{ farmgate_trace: 1 }, ...rows].map((row) => `${JSON.stringify(row)}\n`).join("");
const ask = (model: string, at = 0) => ({ at, model, input: 10, output: 5 });

describe("farmgate simulate ends with 2 and one sentence", () => {
  it.each(["static", "static,two-pools"])("for a cluster's trace that is missing or damaged (%s)", async (policy) => {
    const traces = await folder({ "azure_llm_2023_conv.csv.gz": "\u001b[31m" });
    const flags = ["--cluster", "azure", "--policy", policy, "--traces"];
    const damaged = await simulate(...flags, traces);
    expect(damaged).toMatchObject({ code: 2, stderr: expect.stringMatching(/^farmgate: .*no known format.*\n$/) });
    expect(damaged.stderr).not.toContain("\u001b");
    const missing = await simulate(...flags, join(traces, "none"));
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringMatching(/^farmgate: .*no such file\n$/) });
  });

  it.each([
    ["--farm", FARM],
    ["--cluster", "five-burst"],
  ])("for an --out that cannot be written, before any work (%s)", async (...what) => {
    const taken = join(await folder({ taken: "" }), "taken");
    const before = Date.now();
    const told = await simulate(...what, "--out", taken);
    expect(told).toMatchObject({
      code: 2,
      stderr: `farmgate: nothing can be written to ${taken}: there is a file of that name\n`,
    });
    expect(Date.now() - before).toBeLessThan(2_000);
  });

  it("for a trace that lasts for years, and for more requests than it can hold", async () => {
    const file = join(await folder({ "years.jsonl": trace(ask("qwen3-8b", 300_000_000_000)) }), "years.jsonl");
    expect(await simulate("--farm", FARM, "--trace", file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("lasts 3473 days"),
    });
    expect(await simulate("--farm", FARM, "--requests", "999999999")).toMatchObject({ code: 2 });
  });

  it("for a trace of names that nobody has, however many and whatever is in them", async () => {
    const names = Array.from({ length: 300 }, (_, i) => ask(`\u001b[31m${i}`));
    const file = join(await folder({ "names.jsonl": trace(...names) }), "names.jsonl");
    const { code, stderr } = await simulate("--farm", FARM, "--trace", file);
    expect(code).toBe(2);
    expect(stderr).toMatch(/and 292 more/);
    expect(stderr).not.toContain("\u001b");
  });
});

it("names that nobody has are few and harmless in what is printed", async () => {
  const names = Array.from({ length: 100 }, (_, i) => ask(`\u001b[31m${i}`));
  const file = join(await folder({ "names.jsonl": trace(...names, ask("qwen3-8b")) }), "names.jsonl");
  const { code, stdout } = await simulate("--farm", FARM, "--no-advice", "--trace", file);
  expect(code).toBe(0);
  expect(stdout).toMatch(/and 92\s+more/);
  expect(stdout).not.toContain("\u001b");
});

it("Ctrl-C ends the run of a policy with the comparison", async () => {
  const io = fakeIo(["simulate", "--cluster", "five-burst", "--policy", "static,two-pools"]);
  const pids: string[] = [];
  let stop = () => {};
  // In place of a run: it tells its process, and does not end by itself.
  const run = "process.stderr.write(String(process.pid)); setInterval(() => {}, 1000)";
  Object.assign(io, {
    self: [process.execPath, "-e", run, "--"],
    onSignal: (fn: () => void) => (stop = fn),
    stderr: { ...io.stderr, write: (text: string) => (pids.push(text), stop(), (io.printed.stderr += text)) },
  });
  expect(await runProgram(io)).toBe(1);
  expect(io.printed.stderr).toMatch(/the run of static was stopped\n$/);
  await vi.waitFor(() => expect(() => process.kill(Number(pids[0]), 0)).toThrow(/ESRCH/), 60_000);
});
