import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Cleanup, FARMGATE, type FarmgateProcess, runFarmgate } from "./farmgate-process.ts";
import { freePorts } from "./free-ports.ts";
import { until } from "./until.ts";

/** One model of a machine, and how its simulated engine behaves. */
export interface CommandModel {
  name: string;
  slots?: number;
  /** As `farmgate engine --load`. */
  load?: string;
  /** 0: at once. */
  tokensPerSecond?: number;
  /** Tokens of a prompt in a second; 0, which is also where it is left out: at once. */
  promptSpeed?: number;
  /** As `farmgate engine --fail`. */
  fail?: string;
  /** More of its entry in the agent's file. */
  settings?: Record<string, unknown>;
}

/** A real agent process that runs one real engine process per loaded model; all of it can be killed and started anew. */
export class CommandMachine {
  readonly name: string;
  readonly url: string;
  readonly #folder: string;
  readonly #models: readonly CommandModel[];
  readonly #cleanup: Cleanup;
  #agent: FarmgateProcess | null = null;
  #earlier = "";

  constructor(cleanup: Cleanup, name: string, url: string, folder: string, models: readonly CommandModel[]) {
    this.#cleanup = cleanup;
    this.name = name;
    this.url = url;
    this.#folder = folder;
    this.#models = models;
  }

  /** Starts the agent and waits until it answers. */
  async start(): Promise<void> {
    const agent = runFarmgate(["agent", "--config", join(this.#folder, "agent.yaml")]);
    this.#agent = this.#cleanup.add(agent, (program) => program.stop());
    await until(async () => {
      if (agent.child.exitCode !== null) throw new Error(`${this.name} ended at its start:\n${agent.output()}`);
      return (await fetch(`${this.url}/health`).catch(() => null))?.ok === true;
    }, `${this.name} answers`);
  }

  /** SIGKILL for the agent and its engines, as when the power goes. */
  async kill(): Promise<void> {
    const agent = this.#agent;
    if (agent === null) return;
    agent.child.kill("SIGKILL");
    await this.#killEngines();
    await agent.ended;
    this.#earlier += agent.output();
  }

  /** What its agents have logged so far. */
  get log(): string {
    return this.#agent?.child.signalCode === "SIGKILL" ? this.#earlier : this.#earlier + (this.#agent?.output() ?? "");
  }

  /** The models in the order in which engines were started for them. */
  async starts(): Promise<string[]> {
    return (await readFile(join(this.#folder, "starts.log"), "utf8")).split("\n").filter((line) => line !== "");
  }

  async order(model: string, what: "load" | "unload"): Promise<void> {
    await fetch(`${this.url}/models/${model}/${what}`, { method: "POST" });
    const loaded = what === "load";
    await until(async () => (await this.state(model)) === (loaded ? "warm" : "cold"), `${model} after its ${what}`);
  }

  async state(model: string): Promise<string | undefined> {
    const answer = await fetch(`${this.url}/catalog`);
    const { models } = (await answer.json()) as { models: { id: string; state: string }[] };
    return models.find(({ id }) => id === model)?.state;
  }

  async #killEngines(): Promise<void> {
    for (const { name } of this.#models) {
      const pid = Number(await readFile(join(this.#folder, `${name}.pid`), "utf8").catch(() => "0"));
      try {
        if (pid > 0) process.kill(pid, "SIGKILL");
      } catch {
        // It has ended already.
      }
    }
  }
}

/** Starts a machine; `config` is more of its agent's file. Without a memory budget it has one model loaded at a time. */
export async function startMachine(
  cleanup: Cleanup,
  name: string,
  models: readonly CommandModel[],
  config: Record<string, unknown> = {},
): Promise<CommandMachine> {
  const [port = 0, ...ports] = await freePorts(models.length + 1);
  const folder = await cleanup.folder();
  await writeFile(join(folder, "starts.log"), "");
  await writeFile(join(folder, "engine.sh"), engineScript(folder), { mode: 0o755 });
  const listed = models.map(
    ({ name: model, slots = 4, load = "300ms", tokensPerSecond = 0, promptSpeed = 0, fail, settings }, i) => {
      const flags = `--load ${load} --slots ${slots} --tokens-per-second ${tokensPerSecond} --prompt-speed ${promptSpeed}`;
      return {
        name: model,
        url: `http://127.0.0.1:${ports[i]}`,
        slots,
        command: `./engine.sh ${model} ${ports[i]} ${flags}${fail === undefined ? "" : ` --fail ${fail}`}`,
        ...settings,
      };
    },
  );
  const own = { name, listen: { port }, swap: { poll: "20ms", timeout: "20s" }, models: listed };
  await writeFile(join(folder, "agent.yaml"), stringify({ ...own, ...config }));
  const machine = new CommandMachine(cleanup, name, `http://127.0.0.1:${port}`, folder, models);
  await machine.start();
  return machine;
}

/** `engine.sh MODEL PORT FLAGS...`: becomes the simulated engine, and writes down that it was started. */
function engineScript(folder: string): string {
  return `#!/bin/sh
model=$1
port=$2
shift 2
echo "$model" >> '${folder}/starts.log'
echo $$ > '${folder}'/"$model".pid
exec '${process.execPath}' '${FARMGATE}' engine --single --models "$model" --port "$port" "$@"
`;
}
