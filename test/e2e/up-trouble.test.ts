import { createServer } from "node:net";
import { dirname } from "node:path";
import { afterEach, expect, test } from "vitest";
import { Cleanup } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { until } from "../harness/until.ts";
import { answers, logLines, run, start, told, written } from "./cli-process.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const farm = (text: string) => written(cleanup, "farm.yaml", text);

async function modelIds(port: number): Promise<string[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/models`);
  return ((await answer.json()) as { data: { id: string }[] }).data.map((model) => model.id);
}

test("a farm of engines alone starts, also while another worker cannot be reached", async () => {
  const [gateway = 0, engine = 0, nobody = 0] = await freePorts(3);
  const file = await farm(`
gateway:
  listen: { port: ${gateway} }
  workers:
    - { name: here, url: "http://127.0.0.1:${engine}" }
    - { name: away, url: "http://127.0.0.1:${nobody}" }
engines:
  - { name: here, listen: { port: ${engine} }, models: [{ name: m, loaded: true }] }
`);
  const up = start(cleanup, ["up", "--config", file]);
  await told(up, "Farmgate is up");
  expect(await modelIds(gateway)).toEqual(["m"]);
  up.child.kill("SIGINT");
  // As npm does it: the same signal once more, at once.
  up.child.kill("SIGINT");
  expect(await up.ended).toBe(0);
});

test("a port that is taken is told with the key to change, before anything starts", async () => {
  const [gateway = 0] = await freePorts(1);
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as { port: number };
  const file = await farm(`
gateway: { listen: { port: ${gateway} } }
engines: [{ name: e, listen: { port: ${port} }, models: [m] }]
`);
  const { code, stdout, stderr } = await run(["up", "--config", file]);
  expect(code).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toBe(
    `farmgate: engine e: port ${port} on 127.0.0.1 is in use by another program; change engines[0].listen.port in ${file}\n`,
  );
  const override = await run(["gateway", "--config", file, "--port", String(port)]);
  expect(override.code).toBe(1);
  expect(override.stderr).toContain(`port ${port} on 127.0.0.1 is in use by another program; change --port`);
  await new Promise((resolve) => other.close(resolve));
});

test("`up` takes ./farmgate.yaml and another port for the gateway", async () => {
  const [gateway = 0, engine = 0, other = 0] = await freePorts(3);
  const file = await written(
    cleanup,
    "farmgate.yaml",
    `gateway: { listen: { port: ${gateway} } }\nengines: [{ listen: { port: ${engine} }, models: [{ name: m, loaded: true }] }]\n`,
  );
  const up = start(cleanup, ["up", "--port", String(other)], dirname(file));
  await told(up, `Farmgate is up: http://127.0.0.1:${other}`);
  expect(await modelIds(other)).toEqual(["m"]);
});

test("a program that dies is told and started again", async () => {
  const [gateway = 0, engine = 0] = await freePorts(2);
  const file = await farm(`
gateway: { listen: { port: ${gateway} }, health: { interval: 250ms } }
engines: [{ name: e, listen: { port: ${engine} }, models: [{ name: m, loaded: true }] }]
`);
  const up = start(cleanup, ["up", "--config", file]);
  await told(up, "Farmgate is up");
  const pids = () => new Set(logLines(up).flatMap((line) => (line.name === "engine e" ? [line.pid] : [])));
  await until(() => pids().size === 1, "the engine has written its log");
  for (const pid of pids()) process.kill(pid, "SIGKILL");
  await told(up, "engine e ended (SIGKILL); it is started again in 500 ms");
  await until(() => answers(`http://127.0.0.1:${engine}/health`), "the engine answers again");
  await until(() => pids().size === 2, "another engine process has written its log");
  expect(logLines(up).filter((line) => line.msg === "simulated engine is ready")).toHaveLength(2);
});

test("a second signal ends everything at once", async () => {
  const [gateway = 0, engine = 0] = await freePorts(2);
  const file = await farm(`
gateway: { listen: { port: ${gateway} }, drain: 1m }
engines: [{ name: e, listen: { port: ${engine} }, tokensPerSecond: 1, models: [{ name: m, loaded: true }] }]
`);
  const up = start(cleanup, ["up", "--config", file]);
  await told(up, "Farmgate is up");
  const answer = await fetch(`http://127.0.0.1:${gateway}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", stream: true, max_tokens: 500, messages: [{ role: "user", content: "Hi" }] }),
  });
  const cut = answer.text().catch(() => "cut");
  up.child.kill("SIGTERM");
  await told(up, '"name":"gateway","msg":"SIGTERM: closing"');
  // The first second's signals count as one.
  await until(() => {
    up.child.kill("SIGTERM");
    return up.child.exitCode !== null;
  }, "the end");
  expect(await up.ended).toBe(1);
  expect(await cut).not.toContain("[DONE]");
  await until(async () => !(await answers(`http://127.0.0.1:${gateway}/livez`)), "the gateway is gone");
});
