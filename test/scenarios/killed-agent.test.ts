import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { stringify } from "yaml";
import { getJson } from "../harness/ask.ts";
import { Cleanup, runFarmgate } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { isRunning } from "../harness/process-state.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();

afterEach(() => cleanup.run());

it("an agent that is killed in a swap leaves a script behind, which the next one ends before it does anything", async () => {
  const folder = await cleanup.folder();
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  await writeFile(join(folder, "swap.sh"), "#!/bin/sh\necho $$ > script.pid\nexec sleep 120\n", { mode: 0o755 });
  const models = [{ name: "m", url: "http://127.0.0.1:1" }];
  const config = { name: "box", listen: { port }, swap: { command: "./swap.sh" }, models };
  await writeFile(join(folder, "agent.yaml"), stringify(config));
  const start = async () => {
    const agent = cleanup.add(runFarmgate(["agent", "--config", "agent.yaml"], { cwd: folder }), (one) => one.stop());
    await until(
      () =>
        fetch(`${url}/health`)
          .then(({ ok }) => ok)
          .catch(() => false),
      "the agent answers",
    );
    return agent;
  };
  const first = await start();
  await fetch(`${url}/models/m/load`, { method: "POST" });
  const notes = join(folder, ".farmgate", "box", "running");
  const written = (file: string) => readFile(file, "utf8").catch(() => "");
  await until(async () => (await readdir(notes).catch(() => [])).length > 0, "the script is noted");
  await until(async () => (await written(join(folder, "script.pid"))).endsWith("\n"), "the script runs");
  const script = Number(await written(join(folder, "script.pid")));
  first.child.kill("SIGKILL");
  await first.ended;
  expect(process.kill(script, 0)).toBe(true);

  const second = await start();
  expect(await isRunning(script)).toBe(false);
  await until(() => second.output().includes("its script, still running, is ended"), "the agent says so");
  expect(await getJson(`${url}/health`)).toMatchObject({ model: null, status: "ok" });
});
