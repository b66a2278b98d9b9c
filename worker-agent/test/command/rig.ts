import { readFile, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { join } from "node:path";
import { createLog, createSystemClock, type Log } from "@farmgate/wire";
import { onTestFinished } from "vitest";
import { freePorts } from "../../../test/harness/free-ports.ts";
import { CommandHolder } from "../../src/command/command-holder.ts";
import type { ServedModel } from "../../src/served-model.ts";
import { EngineAsker } from "../../src/swap/ask-engine.ts";
import { identityOf } from "../../src/swap/process-identity.ts";
import { RunningNotes } from "../../src/swap/running-note.ts";
import { tempDirectory } from "../support/agent-rig.ts";

const clock = createSystemClock();
export const never = new AbortController().signal;

/**
 * An engine that writes `MODEL PID` to started.log, and to clashes.log when another one of its model still runs.
 * Arguments: `mute` never listens, `loading` answers 503 until the file `go` is there, `exit=N` fails at once,
 * `stubborn` ignores SIGTERM, `child` has a child that does so, with `away` in a process group of its own.
 */
const ENGINE = `
const { spawn } = require("node:child_process");
const { appendFileSync, existsSync, readFileSync } = require("node:fs");
const { createServer } = require("node:http");
const words = process.argv.slice(2);
const model = process.env.FARMGATE_MODEL;
const runs = (pid) => {
  try { return !/\\) [ZX] /.test(readFileSync("/proc/" + pid + "/stat", "utf8")); } catch { return false; }
};
const earlier = existsSync("started.log") ? readFileSync("started.log", "utf8").trim().split("\\n") : [];
for (const line of earlier) {
  const [name, pid] = line.split(" ");
  if (name === model && runs(pid)) appendFileSync("clashes.log", line + " " + process.pid + "\\n");
}
const note = (name, pid) => appendFileSync("started.log", name + " " + pid + "\\n");
console.log("loading " + words.join(" "));
if (words.includes("stubborn")) process.on("SIGTERM", () => console.log("not now"));
if (words.includes("child")) {
  const text = 'process.on("SIGTERM", () => {}); process.send("up"); setInterval(() => {}, 1000)';
  const child = spawn(process.execPath, ["-e", text], { stdio: ["ignore", "inherit", "inherit", "ipc"], detached: words.includes("away") });
  child.on("message", () => { note("child", child.pid); child.disconnect(); start(); });
} else start();
function start() {
  note(model, process.pid);
  const exit = words.find((word) => word.startsWith("exit="));
  if (exit !== undefined) {
    console.error("\\u001b[31mno memory\\u001b[0m");
    process.exit(Number(exit.slice(5)));
  }
  if (words.includes("mute")) return setInterval(() => {}, 1000);
  const server = createServer((request, response) => {
    const loading = words.includes("loading") && !existsSync("go");
    response.writeHead(loading ? 503 : 200);
    response.end(JSON.stringify({ object: "list", data: [{ id: model, owned_by: "llamacpp", meta: { n_ctx: 4096 } }] }));
  });
  server.listen(Number(new URL(process.env.FARMGATE_URL).port), "127.0.0.1");
}
`;

export async function commandRig() {
  const directory = await tempDirectory();
  await writeFile(join(directory, "engine.cjs"), ENGINE);
  const started = async (name: string) => {
    const text = await readFile(join(directory, "started.log"), "utf8").catch(() => "");
    const lines = text.split("\n").map((line) => line.split(" "));
    return lines.filter(([model]) => model === name).map(([, pid]) => Number(pid));
  };
  const all = async () => (await Promise.all(["a", "b", "child"].map(started))).flat();
  onTestFinished(async () => {
    for (const pid of await all()) if (await isRunning(pid)) killAtOnce(pid);
  });
  return {
    directory,
    notes: join(directory, "running"),
    /** The ids of all that were ever started for this model, or as `child`. */
    started,
    running: async (name: string) => runningOf(await started(name)),
    anyRunning: async () => runningOf(await all()),
    clashes: () => readFile(join(directory, "clashes.log"), "utf8").catch(() => ""),
    holder: (log?: Log) => holderIn(directory, log),
    async model(name: string, words = "", changes: Partial<ServedModel> = {}): Promise<ServedModel> {
      const [port = 0] = await freePorts(1);
      return {
        name,
        aliases: [],
        engineName: name,
        url: `http://127.0.0.1:${port}`,
        apiKey: null,
        leaves: "call",
        kind: null,
        apis: null,
        engine: null,
        quantization: null,
        digest: null,
        sharesUrl: false,
        slots: 1,
        ready: "health",
        health: "/health",
        timeoutMs: 20_000,
        memoryBytes: null,
        heldBy: { kind: "command", command: `'${process.execPath}' engine.cjs ${words}` },
        stopGraceMs: 5_000,
        pinned: false,
        ttlMs: 0,
        preload: false,
        drainOnAbort: { bytes: 0, ms: 0 },
        ...changes,
      };
    },
  };
}

/** A holder as the agent makes it, and what it told of models that were lost. */
function holderIn(directory: string, log: Log = createLog("agent", "silent")) {
  const asker = new EngineAsker(clock);
  const lost: { model: string; reason: string }[] = [];
  const options = {
    directory,
    environment: { PATH: process.env["PATH"] },
    outputDirectory: directory,
    notes: new RunningNotes(join(directory, "running")),
    pollMs: 10,
    clock,
    log,
    onLost: (model: string, reason: string) => void lost.push({ model, reason }),
  };
  const holder = new CommandHolder(options, asker);
  onTestFinished(async () => {
    await holder.close();
    await asker.close();
  });
  return Object.assign(holder, { lost });
}

/** Also where it has just ended by itself. */
export function killAtOnce(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

export async function isRunning(pid: number): Promise<boolean> {
  return (await identityOf(pid)) !== null;
}

async function runningOf(pids: readonly number[]): Promise<number[]> {
  const running = await Promise.all(pids.map(isRunning));
  return pids.filter((_, i) => running[i]);
}

/** Answers every request at this address, as an engine would that is no child of its command; gives its end. */
export async function listenFor(url: string, onRequest: () => void = () => {}): Promise<() => void> {
  const server = createHttpServer((_request, response) => {
    onRequest();
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(Number(new URL(url).port), "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(close);
  return close;
}
