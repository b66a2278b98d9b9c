import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@farmgate/shared";
import { getJson } from "../../harness/ask.ts";
import type { Cleanup } from "../../harness/farmgate-process.ts";
import { freePorts } from "../../harness/free-ports.ts";
import { until } from "../../harness/until.ts";
import type { Rig } from "./gateway.ts";
import { FaultyWorker } from "./worker.ts";

const ATTACHED = Array.from({ length: 4 }, (_, i) => `attached-${i}`);
const SCRIPTED = "scripted";

/** An agent before one faulty engine: attached, and behind a swap script that has nothing to do. */
export async function startAgentRig(cleanup: Cleanup, clock: Clock, shell?: string): Promise<Rig> {
  const start = async (models: string[]) =>
    cleanup.add(await new FaultyWorker(models, clock).listen(), (worker) => worker.close());
  const faulty = await start([...ATTACHED, SCRIPTED]);
  const folder = await cleanup.folder();
  const script = join(folder, "swap.sh");
  await writeFile(script, "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const agent = await cleanup.program(
    "agent",
    {
      name: "box",
      listen: { port },
      swap: { command: script, unload: true, poll: "20ms", timeout: "1s", failureReset: "500ms" },
      models: [{ name: SCRIPTED, url: faulty.url, slots: 64 }],
      engines: [{ url: faulty.url, engine: "vllm", poll: "200ms", slots: 64, deny: [SCRIPTED] }],
      drain: "1s",
    },
    url,
    {},
    shell,
  );
  const lists = async () => {
    const { models } = await getJson<{ models: { id: string; state: string }[] }>(`${url}/catalog`);
    return ATTACHED.every((name) => models.some(({ id, state }) => id === name && state === "warm"));
  };
  await until(lists, "the agent lists the engine's models");
  return { front: { kind: "agent", url, process: agent }, faulty, good: [], models: [...ATTACHED, SCRIPTED], clock };
}
