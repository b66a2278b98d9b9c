import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Answer, askChat } from "./ask.ts";
import { type Cleanup, type FarmgateProcess, runFarmgate } from "./farmgate-process.ts";
import { freePorts } from "./free-ports.ts";
import { writeJournalEngine } from "./journal-engine.ts";
import { OllamaLike } from "./ollama-like.ts";
import { processesOf } from "./processes-of.ts";
import { until } from "./until.ts";

const GB = 1_024 ** 3;
/** Each model takes so much. */
const MODEL_GB = 8;

export interface KilledFarmOptions {
  /** Models that memory is for; 0: `memory.budget: 0`, which is one at a time. */
  budget: number;
  /** More models that are commands, with the mode of their engines. */
  commands?: readonly { name: string; mode: string }[];
  swap?: Record<string, unknown>;
  stopGrace?: string;
  /** 1 s unless said. */
  drain?: string;
}

/**
 * An agent to be killed and started again with the same file: `pair-a` and `pair-b` by a script, `solo` and `duo` as
 * commands, `ext-a:latest` and `ext-b:latest` in an attached engine. All processes carry the farm's folder with them.
 */
export async function prepareKilledFarm(cleanup: Cleanup, options: KilledFarmOptions) {
  const folder = await cleanup.folder();
  cleanup.add(folder, endAll);
  const engine = await writeJournalEngine(folder);
  await writeFile(join(folder, "swap.sh"), swapScript(engine.command, options.budget === 0), { mode: 0o755 });
  await writeFile(join(folder, "hold"), "0");
  await writeFile(join(folder, "starter"), "");
  const ollama = await new OllamaLike({
    models: ["ext-a:latest", "ext-b:latest"].map((name) => ({ name, memory: MODEL_GB * GB })),
    loadMs: 200,
    answerMs: 30,
  }).open();
  cleanup.add(ollama, (server) => server.die());
  const commands = [{ name: "solo", mode: "" }, { name: "duo", mode: "" }, ...(options.commands ?? [])];
  const [port = 0, ...ports] = await freePorts(3 + commands.length);
  const model = (name: string, i: number) => ({
    name,
    url: `http://127.0.0.1:${ports[i]}`,
    memory: `${MODEL_GB}gb`,
    slots: 2,
  });
  const config = {
    name: "box",
    listen: { port },
    swap: { command: "./swap.sh", unload: true, poll: "20ms", timeout: "20s", ...options.swap },
    queue: { maxWait: "1s" },
    memory: { budget: `${options.budget * MODEL_GB}gb` },
    drain: options.drain ?? "1s",
    models: [
      model("pair-a", 0),
      model("pair-b", 1),
      ...commands.map(({ name, mode }, i) => ({
        ...model(name, 2 + i),
        command: `${engine.command} ${name} ${ports[2 + i]} ${mode}`.trim(),
        stopGrace: options.stopGrace ?? "10s",
      })),
    ],
    engines: [{ url: ollama.url, engine: "ollama", poll: "500ms", slots: 2 }],
  };
  await writeFile(join(folder, "agent.yaml"), stringify(config));
  const url = `http://127.0.0.1:${port}`;
  const residences = async () =>
    [...(await engine.lines()), ...ollama.models.residences()]
      .filter(({ what }) => what === "in" || what === "out")
      .sort((a, b) => a.at - b.at || Number(a.what === "in") - Number(b.what === "in"));
  const agents: FarmgateProcess[] = [];
  return {
    url,
    folder,
    engine,
    ollama,
    residences,
    /** Seconds that the script goes on after it has started an engine. */
    hold: (seconds: number) => writeFile(join(folder, "hold"), String(seconds)),
    /** What the script starts engines with: `setsid` takes them out of its process group, as a service manager does. */
    starter: (program: string) => writeFile(join(folder, "starter"), program),
    script: () => readFile(join(folder, "script.log"), "utf8").catch(() => ""),
    run() {
      const args = ["agent", "--config", "agent.yaml"];
      const agent = cleanup.add(runFarmgate(args, { cwd: folder, env: { TEST_FOLDER: folder } }), (one) => one.stop());
      agents.push(agent);
      return agent;
    },
    /** The output of all agents so far. */
    agentSaid: () => agents.map((agent) => agent.output()).join(""),
    async start() {
      const agent = this.run();
      await until(() => {
        if (agent.child.exitCode !== null) throw new Error(`the agent ended at its start:\n${agent.output()}`);
        return answers(url);
      }, "the agent answers");
      return agent;
    },
    /** When the engine of this model has written this down. */
    noted: (what: string, name: string) =>
      until(
        async () => (await engine.lines()).some((line) => line.what === what && line.model === name),
        `${name}: ${what}`,
      ),
    /** Processes of the farm that live, but for those of the models that the script has loaded. */
    async orphans() {
      const held = await Promise.all(
        ["pair-a", "pair-b"].map((name) => readFile(join(folder, `${name}.pid`), "utf8").catch(() => "")),
      );
      const all = await processesOf(folder);
      return all.filter(({ pid }) => !held.map(Number).includes(pid));
    },
  };
}
export type KilledFarm = Awaited<ReturnType<typeof prepareKilledFarm>>;

/** As a caller does that asks again for as long as nobody listens. */
export async function askAgain(url: string, model: string): Promise<Answer> {
  const end = performance.now() + 60_000;
  for (;;) {
    const answer = await askChat(url, model, { max_tokens: 5 }).answer;
    if (answer.status !== 0 || performance.now() > end) return answer;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The most models in memory at once, and those of which there were two at once. */
export function looked(residences: readonly { what: string; model: string }[]) {
  const inMemory: string[] = [];
  const twice: string[] = [];
  let most = 0;
  for (const { what, model } of residences) {
    if (what === "out") inMemory.splice(inMemory.indexOf(model), inMemory.includes(model) ? 1 : 0);
    else {
      if (inMemory.includes(model)) twice.push(model);
      inMemory.push(model);
      most = Math.max(most, inMemory.length);
    }
  }
  return { most, twice };
}

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** `swap.sh MODEL` and `swap.sh unload MODEL`; both may be repeated. At budget 0 a load ends the other one first. */
function swapScript(engine: string, alone: boolean): string {
  return `#!/bin/sh
set -eu
end() {
  [ -f "$1.pid" ] || return 0
  read -r pid < "$1.pid"
  kill "$pid" 2>/dev/null || true
  while kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
  rm -f "$1.pid"
}
echo "begin $*" >> script.log
if [ "$1" = unload ]; then
  end "$2"
else
  ${alone ? 'for other in pair-a pair-b; do [ "$other" = "$1" ] || end "$other"; done' : ":"}
  if ! { [ -f "$1.pid" ] && kill -0 "$(cat "$1.pid")" 2>/dev/null; }; then
    $(cat starter) sh -c 'echo $$ > "$1.pid"; exec ${engine.replaceAll("'", '"')} "$1" "$2"' sh "$1" "\${FARMGATE_URL##*:}" \\
      < /dev/null > /dev/null 2>&1 &
    while [ ! -s "$1.pid" ]; do sleep 0.02; done
  fi
  sleep "$(cat hold)"
fi
echo "end $*" >> script.log
`;
}

/** Whatever a failed test has left. */
async function endAll(folder: string): Promise<void> {
  for (const { pid } of await processesOf(folder)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
}
