import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type Answer, askChat } from "../../harness/ask.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { startTestEngine, startTestGateway } from "../../harness/gateway-farm.ts";
import { startLoadedFile } from "../../harness/loaded-file.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const codeOf = ({ body }: Answer) => (JSON.parse(body) as { error: { code: string } }).error.code;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it("a swap script that never returns is ended with all that it started, its callers go elsewhere, and its worker tells", async () => {
  const stuck = await startLoadedFile(cleanup, ["m", "other"], {
    first: 'if [ "$1" = m ]; then sleep 600 & echo "$$ $!" >> pids; wait; fi',
    swap: { timeout: "1s" },
  });
  const spare = await startTestEngine(cleanup, { models: ["m"], load: "50ms" });

  const direct = await Promise.all(Array.from({ length: 8 }, () => askChat(stuck.url, "m").answer));
  expect(direct.map((answer) => [answer.status, codeOf(answer)])).toEqual(direct.map(() => [503, "load_failed"]));
  expect(await stuck.health()).toMatchObject({ status: "degraded", queue_depth: 0, inflight: 0 });
  const other = askChat(stuck.url, "other");
  expect((await other.answer).status).toBe(200);

  const { url, farm } = await startTestGateway(cleanup, { stuck: stuck.url, spare: spare.url });
  const routed = await Promise.all(Array.from({ length: 8 }, () => askChat(url, "m").answer));
  expect(routed.map(({ status, headers }) => [status, headers["x-farmgate-worker"]])).toEqual(
    routed.map(() => [200, "spare"]),
  );
  expect((await farm()).find(({ name }) => name === "stuck")?.models).toContainEqual(
    expect.objectContaining({ id: "m", state: "failed" }),
  );
  const pids = (await readFile(join(stuck.folder, "pids"), "utf8")).trim().split(/\s+/).map(Number);
  console.log(`hung swap: ${pids.length / 2} runs of the script, ${pids.filter(isAlive).length} processes left`);
  expect(pids.length).toBeGreaterThanOrEqual(2);
  expect(pids.filter(isAlive)).toEqual([]);
});
