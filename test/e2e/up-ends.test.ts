import { appendFile } from "node:fs/promises";
import { afterEach, expect, test } from "vitest";
import { askChat, getJson } from "../harness/ask.ts";
import { Cleanup, type FarmgateProcess } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { isRunning } from "../harness/process-state.ts";
import { until } from "../harness/until.ts";
import { logLines, start, told, written } from "./cli-process.ts";
import { farmFile } from "./farm-file.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A farm with four streams of `small` under way, which the agent `mac` serves with its engine. */
async function busyFarm() {
  const [gateway = 0, gpu = 0, mac = 0, gpuEngine = 0, macEngine = 0] = await freePorts(5);
  const text = farmFile({ gateway, agents: [gpu, mac], engines: [gpuEngine, macEngine] });
  const file = await written(cleanup, "farm.yaml", text);
  const up = start(cleanup, ["up", "--config", file]);
  await told(up, "Farmgate is up");
  const url = `http://127.0.0.1:${gateway}`;
  const streams = Array.from({ length: 4 }, () => askChat(url, "small", { max_tokens: 60 }));
  await until(async () => {
    const { requests } = await getJson<{ requests: { phase: string }[] }>(`${url}/farm/requests`);
    return requests.some(({ phase }) => phase === "answering");
  }, "answers are under way");
  return { file, up, url, streams };
}

const pidOf = (up: FarmgateProcess, name: string) => logLines(up).findLast((line) => line.name === name)?.pid ?? 0;

test("a program that dies while the farm drains is not started again, and holds nothing up", async () => {
  const { up, streams } = await busyFarm();
  up.child.kill("SIGTERM");
  await told(up, '"name":"gateway","msg":"SIGTERM: closing"');
  process.kill(pidOf(up, "agent gpu"), "SIGKILL");
  const answers = await Promise.all(streams.map(({ answer }) => answer));
  expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
  const whole = answers.filter(({ status }) => status === 200);
  expect(whole.length).toBeGreaterThan(0);
  for (const { body } of whole) expect(body).toMatch(/\[DONE\]\n\n$/);
  expect(await up.ended).toBe(0);
  expect(up.stdout()).toContain("agent gpu ended (SIGKILL) while the farm stops");
  expect(up.stdout()).not.toContain("started again");
});

test("`up` says what needs a restart; when it is killed its programs drain and end by themselves", async () => {
  const { file, up, url, streams } = await busyFarm();
  const pids = new Set(logLines(up).map(({ pid }) => pid));
  expect(pids.size).toBe(5);
  await appendFile(file, "  - { name: late-engine, listen: { port: 1 }, models: [late] }\n");
  up.child.kill("SIGHUP");
  await told(up, "SIGHUP: each program applies a changed file by itself");
  await told(up, "a restart is needed for: engine late-engine");
  await Promise.all(streams.map(({ answer }) => answer));
  const last = askChat(url, "small", { max_tokens: 60 });
  await last.firstByte;
  up.child.kill("SIGKILL");
  expect((await last.answer).body).toMatch(/\[DONE\]\n\n$/);
  await until(async () => !(await Promise.all([...pids].map(isRunning))).includes(true), "all have ended");
  expect(up.stdout()).toContain("the program that started this one has gone: closing");
});
