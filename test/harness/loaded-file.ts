import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { AgentCatalog } from "@farmgate/shared";
import type { AgentHealth } from "./agent-farm.ts";
import { getJson } from "./ask.ts";
import type { Cleanup } from "./farmgate-process.ts";
import { freePorts } from "./free-ports.ts";

export interface LoadedFileOptions {
  /** How long a swap takes; 0 unless said. */
  swapMs?: number;
  /** How long an answer takes, in four pieces; 0 unless said. */
  answerMs?: number;
  /** Shell lines that the script runs first, in its folder; `$1` is what is to be loaded. */
  first?: string;
  /** Over the agent's configuration. */
  queue?: object;
  swap?: object;
  /** Of each model. */
  model?: object;
  /** Of single models, by name. */
  models?: Record<string, object>;
  more?: object;
  /** Answers in place of the engine where it returns true. */
  answers?: (path: string, response: ServerResponse) => boolean;
}

export type LoadedFileFarm = Awaited<ReturnType<typeof startLoadedFile>>;

/** What a request met at its engine. */
export interface Met {
  model: string;
  /** The user's message. */
  text: string;
  /** Its model was loaded when it came and until its answer ended. */
  loaded: boolean;
  ended: boolean;
}

/** A line of the agent's log. */
interface AgentLine {
  msg: string;
  model?: string;
  status?: number;
  waited_ms?: number | null;
}

/**
 * A real agent process and a real swap script over models of which a file says which one is loaded: the script ends one
 * ("stop a" in its log), takes its time, and starts the other ("start b"). The engines are this process's own: one that
 * is asked looks into the file, when the request comes and again when its answer ends.
 */
export async function startLoadedFile(cleanup: Cleanup, names: readonly string[], options: LoadedFileOptions = {}) {
  const folder = await cleanup.folder();
  const loadedFile = join(folder, "loaded");
  await writeFile(loadedFile, "");
  await writeFile(join(folder, "swap.log"), "");
  const script = join(folder, "swap.sh");
  await writeFile(script, swapScript(folder, options), { mode: 0o755 });
  const loaded = () => readFileSync(loadedFile, "utf8").trim();
  const met: Met[] = [];
  const engines = await Promise.all(names.map((name) => startEngine(cleanup, name, { met, loaded, options })));
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const agent = await cleanup.program(
    "agent",
    {
      name: "box",
      listen: { port },
      swap: { command: script, poll: "10ms", timeout: "10s", ...options.swap },
      queue: options.queue ?? {},
      models: names.map((name, i) => ({
        name,
        url: engines[i],
        slots: 1,
        ...options.model,
        ...options.models?.[name],
      })),
      ...options.more,
    },
    url,
  );
  return {
    agent,
    url,
    folder,
    met,
    loaded,
    health: () => getJson<AgentHealth>(`${url}/health`),
    catalog: () => getJson<AgentCatalog>(`${url}/catalog`),
    metrics: async () => (await fetch(`${url}/metrics`)).text(),
    /** What the script wrote down: "start a", "stop a". */
    swapLog: async () => (await readFile(join(folder, "swap.log"), "utf8")).split("\n").filter((line) => line !== ""),
    lines: () =>
      agent
        .stdout()
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as AgentLine),
  };
}

function swapScript(folder: string, { swapMs = 0, first = "" }: LoadedFileOptions): string {
  return `#!/bin/sh
cd '${folder}'
stop() { : > loaded; echo "stop $1" >> swap.log; }
if [ "$1" = unload ]; then stop "$2"; exit 0; fi
${first}
now=
read -r now < loaded
if [ "$now" = "$1" ]; then exit 0; fi
if [ -n "$now" ]; then stop "$now"; fi
${swapMs > 0 ? `sleep ${swapMs / 1_000}` : ""}
echo "start $1" >> swap.log
echo "$1" > loaded
`;
}

interface World {
  met: Met[];
  loaded: () => string;
  options: LoadedFileOptions;
}

async function startEngine(cleanup: Cleanup, name: string, { met, loaded, options }: World): Promise<string> {
  const server = createServer((request, response) => void receive(request, response));
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (options.answers?.(request.url ?? "", response) === true) return;
    const isLoaded = loaded() === name;
    if (request.method === "GET") return void response.writeHead(isLoaded ? 200 : 503).end("{}");
    const asked = JSON.parse(String(Buffer.concat(chunks))) as { messages: { content: string }[] };
    const one: Met = { model: name, text: asked.messages[0]?.content ?? "", loaded: isLoaded, ended: false };
    met.push(one);
    if (!isLoaded) return void response.writeHead(503).end("{}");
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let piece = 1; piece <= 4 && !response.destroyed; piece += 1) {
      response.write(`data: {"model":"${name}","piece":${piece}}\n\n`);
      if (options.answerMs) await new Promise((resolve) => setTimeout(resolve, (options.answerMs ?? 0) / 4));
    }
    one.loaded &&= response.destroyed || loaded() === name;
    one.ended = true;
    response.end("data: [DONE]\n\n");
  };
  await listen(server);
  cleanup.add(server, () => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
}
