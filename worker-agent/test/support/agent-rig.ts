import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, seededRandom } from "@farmgate/shared";
import { engineOptionsSchema, type RunningEngine, startEngine } from "@farmgate/simulator";
import { createLog, createSystemClock, type Log } from "@farmgate/wire";
import { onTestFinished } from "vitest";
import { agentConfigSchema, type RunningAgent, startAgent } from "../../src/index.ts";
import { until } from "./conditions.ts";

const clock = createSystemClock();

export async function tempDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "farmgate-test-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Writes an executable file and answers its path. */
export async function writeScript(directory: string, name: string, text: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, text);
  await chmod(file, 0o755);
  return file;
}

/** Makes the named model the one loaded model of the engine at FARMGATE_URL, and writes every call to calls.log. */
const SWAP_SCRIPT = `#!${process.execPath}
const { appendFileSync } = require("node:fs");
const words = process.argv.slice(2);
const url = process.env.FARMGATE_URL;
const note = (text) => appendFileSync("calls.log", text + "\\n");
const post = (path, model) =>
  fetch(url + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ model }) });
async function main() {
  note(words.join(" ") + " previous=" + process.env.FARMGATE_PREVIOUS);
  if (words[0] === "unload") return post("/models/unload", words[1]);
  const { data } = await (await fetch(url + "/v1/models")).json();
  for (const entry of data) {
    if (entry.id !== words[0] && entry.status.value === "loaded") await post("/models/unload", entry.id);
  }
  await post("/models/load", words[0]);
}
main().then(() => note("end"), (error) => { console.error(error); process.exitCode = 1; });
`;

/** Waits for the file `go`, so that the test decides how long the swap takes. */
export const HELD_SCRIPT = "#!/bin/sh\necho $1 >> calls.log\nwhile [ ! -f go ]; do sleep 0.02; done\n";

export type RigConfig = { swap?: object } & Record<string, unknown>;

export interface RigOptions {
  /** Over the rig's engine: models a and b, one loaded at a time by the script alone, quick. */
  engine?: object;
  /** Over the rig's agent configuration. */
  config?: RigConfig | ((engineUrl: string) => RigConfig);
  /** The swap script's text. */
  script?: string;
  log?: Log;
  /** The agent's. */
  clock?: Clock;
  /** Bytes of the machine, as the agent takes them; absent: this one's. */
  hostMemory?: number;
}

export interface Rig {
  agent: RunningAgent;
  engine: RunningEngine;
  directory: string;
  /** The arguments of the swap script's calls, in order. */
  calls(): Promise<string[]>;
  /** A chat request for `model`; `text` is the user's message. */
  chat(model: string, text?: string, init?: ChatInit): Promise<Response>;
  health(): Promise<Record<string, unknown>>;
  /** Waits until `/health` shows this many waiting requests. */
  queued(depth: number): Promise<void>;
}

interface ChatInit {
  body?: object;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const directory = await tempDirectory();
  await writeScript(directory, "swap.cjs", options.script ?? SWAP_SCRIPT);
  const engine = await startEngine(
    engineOptionsSchema.parse({
      listen: { port: 0 },
      models: ["a", "b"],
      load: "20ms",
      maxLoaded: 0,
      autoload: false,
      promptTokensPerSecond: 0,
      tokensPerSecond: 0,
      ...options.engine,
    }),
    { clock },
  );
  onTestFinished(() => engine.close());
  const over = typeof options.config === "function" ? options.config(engine.url) : options.config;
  const agent = await startAgent({
    config: agentConfigSchema.parse({
      name: "box",
      listen: { port: 0 },
      models: ["a", "b"].map((name) => ({ name, url: engine.url, slots: 1 })),
      drain: "10s",
      ...over,
      swap: {
        command: "./swap.cjs",
        timeout: "10s",
        poll: "10ms",
        ...over?.swap,
      },
    }),
    directory,
    environment: process.env,
    clock: options.clock ?? clock,
    random: seededRandom(1),
    log: options.log ?? createLog("agent", "silent"),
    version: "0.1.0",
    ...(options.hostMemory !== undefined && { hostMemory: options.hostMemory }),
  });
  onTestFinished(() => agent.close());
  const health = async () => (await (await fetch(`${agent.url}/health`)).json()) as Record<string, unknown>;
  return {
    agent,
    engine,
    directory,
    health,
    queued: (depth) => until(async () => (await health())["queue_depth"] === depth),
    async calls() {
      const text = await readFile(join(directory, "calls.log"), "utf8").catch(() => "");
      return text
        .split("\n")
        .filter((line) => line !== "" && line !== "end")
        .map((line) => line.replace(/ previous=.*$/, ""));
    },
    chat: (model, text = "Hi", { body, headers, signal } = {}) =>
      fetch(`${agent.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ model, messages: [{ role: "user", content: text }], max_tokens: 2, ...body }),
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}
