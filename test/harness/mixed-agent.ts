import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Cleanup } from "./farmgate-process.ts";
import { FARMGATE } from "./farmgate-process.ts";
import { freePorts } from "./free-ports.ts";
import { OllamaLike } from "./ollama-like.ts";

/** What each model of the mixed agent takes, in gigabytes; the budget is for two of them. */
export const MODEL_GB = 8;

/** An engine came into memory or left it, as the engines themselves wrote it down. `at`: milliseconds since the epoch. */
export interface Residence {
  at: number;
  model: string;
  what: "in" | "out";
}

/**
 * One real agent process that holds its models in all three ways at once: `pair-a` and `pair-b` by a swap script that
 * can unload, `solo` as a command that it runs itself, `ext-a` and `ext-b` in an attached engine that answers as Ollama
 * does. Memory is for two models. Every engine writes down when it comes and when it has gone.
 */
export async function startMixedAgent(cleanup: Cleanup, loadMs: number) {
  const [port = 0, portA = 0, portB = 0, portSolo = 0] = await freePorts(4);
  const folder = await cleanup.folder();
  const journal = join(folder, "residence.log");
  await writeFile(journal, "");
  await writeFile(join(folder, "engine.sh"), engineScript(journal, loadMs), { mode: 0o755 });
  await writeFile(join(folder, "swap.sh"), swapScript(folder), { mode: 0o755 });
  const ollama = await new OllamaLike({
    models: ["ext-a:latest", "ext-b:latest"].map((name) => ({ name, memory: MODEL_GB * 1_024 ** 3 })),
    loadMs,
    answerMs: 30,
  }).open();
  cleanup.add(ollama, (server) => server.die());
  cleanup.add(folder, endPair);
  const url = `http://127.0.0.1:${port}`;
  const memory = `${MODEL_GB}gb`;
  const agent = await cleanup.program(
    "agent",
    {
      name: "mixed",
      listen: { port },
      swap: { command: join(folder, "swap.sh"), poll: "20ms", timeout: "20s", unload: true },
      queue: { maxWait: "3s", maxBatch: 8 },
      memory: { budget: `${2 * MODEL_GB}gb` },
      models: [
        { name: "pair-a", url: `http://127.0.0.1:${portA}`, memory, slots: 2 },
        { name: "pair-b", url: `http://127.0.0.1:${portB}`, memory, slots: 2 },
        {
          name: "solo",
          url: `http://127.0.0.1:${portSolo}`,
          memory,
          slots: 2,
          command: `${join(folder, "engine.sh")} solo ${portSolo}`,
        },
      ],
      engines: [{ url: ollama.url, engine: "ollama", poll: "500ms", slots: 2 }],
    },
    url,
  );
  const residences = async (): Promise<Residence[]> => {
    const written = (await readFile(journal, "utf8")).split("\n").filter((line) => line !== "");
    const own = written.map((line): Residence => {
      const [at, what, model = ""] = line.split(" ");
      return { at: Number(at), what: what === "in" ? "in" : "out", model };
    });
    return [...own, ...ollama.models.residences()].sort((a, b) => a.at - b.at);
  };
  return { agent, url, ollama, residences, models: ["pair-a", "pair-b", "solo", "ext-a:latest", "ext-b:latest"] };
}

/** `engine.sh MODEL PORT`: a simulated engine that notes its coming and its end, and ends with its script. */
function engineScript(journal: string, loadMs: number): string {
  return `#!/bin/sh
note() { echo "$(date +%s%3N) $1 $2" >> '${journal}'; }
model=$1
note in "$model"
'${process.execPath}' '${FARMGATE}' engine --single --models "$model" --port "$2" --load ${loadMs}ms \\
  --slots 2 --tokens-per-second 300 --prompt-speed 0 > /dev/null 2>&1 &
engine=$!
trap 'kill $engine 2>/dev/null' TERM INT
while kill -0 $engine 2>/dev/null; do wait $engine; done
note out "$model"
`;
}

/** Loads MODEL beside what is there, or unloads it; both may be repeated. */
function swapScript(folder: string): string {
  return `#!/bin/sh
set -eu
order=$1
if [ "$order" = unload ]; then
  file='${folder}'/$2.pid
  [ -f "$file" ] || exit 0
  read -r pid < "$file"
  kill "$pid" 2>/dev/null || true
  while kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
  rm -f "$file"
  exit 0
fi
file='${folder}'/$order.pid
if [ -f "$file" ]; then
  read -r pid < "$file"
  if kill -0 "$pid" 2>/dev/null; then exit 0; fi
fi
'${folder}/engine.sh' "$order" "\${FARMGATE_URL##*:}" < /dev/null > /dev/null 2>&1 &
echo $! > "$file"
`;
}

async function endPair(folder: string): Promise<void> {
  for (const model of ["pair-a", "pair-b"]) {
    const pid = Number(await readFile(join(folder, `${model}.pid`), "utf8").catch(() => "0"));
    try {
      if (pid > 0) process.kill(pid, "SIGTERM");
    } catch {
      // It has ended already.
    }
  }
}
