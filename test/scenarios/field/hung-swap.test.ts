import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type Answer, askChat } from "../../harness/ask.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { startTestEngine, startTestGateway } from "../../harness/gateway-farm.ts";
import { startLoadedFile } from "../../harness/loaded-file.ts";
import { isRunning } from "../../harness/process-state.ts";
import { until } from "../../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const codeOf = ({ body }: Answer) => (JSON.parse(body) as { error: { code: string } }).error.code;

it("a swap script that never returns is ended with all that it started, its callers go elsewhere, and its worker tells", async () => {
  const stuck = await startLoadedFile(cleanup, ["m", "other"], {
    first: 'if [ "$1" = m ]; then sleep 600 & echo "$$ $!" >> pids; wait; fi',
    swap: { timeout: "3s" },
  });
  const spare = await startTestEngine(cleanup, { models: ["m"], load: "50ms" });
  const { url, farm } = await startTestGateway(cleanup, { stuck: stuck.url, spare: spare.url });
  const worker = async (wanted: string) => (await farm()).find(({ name }) => name === wanted);
  await spare.setFail(["refuse"]);
  await until(async () => (await worker("spare"))?.state === "unhealthy", "the other worker is away");

  const asked = Array.from({ length: 8 }, () => askChat(url, "m").answer);
  const other = askChat(stuck.url, "other").answer;
  await until(async () => (await stuck.health()).queue_depth === 9, "all wait at the stuck one");
  await spare.setFail([]);
  for (const { status, headers } of await Promise.all(asked)) {
    expect([status, headers["x-farmgate-worker"], headers["x-farmgate-attempts"]]).toEqual([200, "spare", "2"]);
  }
  expect((await other).status).toBe(200);
  const told = await askChat(stuck.url, "m").answer;
  expect([told.status, codeOf(told)]).toEqual([503, "load_failed"]);
  expect(await stuck.health()).toMatchObject({ status: "degraded", queue_depth: 0, inflight: 0 });
  await until(
    async () => (await worker("stuck"))?.models.some(({ id, state }) => id === "m" && state === "failed") === true,
    "the gateway tells that m failed there",
  );
  const pids = (await readFile(join(stuck.folder, "pids"), "utf8")).trim().split(/\s+/).map(Number);
  expect(pids).toHaveLength(4);
  for (const pid of pids) await until(async () => !(await isRunning(pid)), `process ${pid} of the script has ended`);
});
