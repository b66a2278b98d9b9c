// The farm of the soak: a gateway, two agents and two bare workers, one of which misbehaves.
import { type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Children } from "../../bench/process/children.ts";
import { FARMGATE } from "../../harness/farmgate-process.ts";
import { freePorts } from "../../harness/free-ports.ts";
import { writeSwapScript } from "../../harness/swap-script.ts";
import { answers, type Program, startEngine, startProgram } from "./programs.ts";

/** Events a second of each stream: what two cores bear at 200 streams. */
const PER_SECOND = 10;
/** Of what the worker that misbehaves is asked. */
const FAULTY_SHARE = 0.1;
const SLOTS = 64;
const LISTED = ["chat", "lone", "flood", "swap-a", "swap-b", "extra", "embed", "voice"];
const SPEED = `--tokens-per-second ${PER_SECOND} --prompt-speed 0 --load 300ms --context 1000000`;

export interface SoakFarm {
  gateway: Program;
  agents: Program[];
  rogue: { url: string; child: ChildProcess };
}

export async function startFarm(children: Children, seed: number): Promise<SoakFarm> {
  const [gatewayPort = 0, steadyPort = 0, swapperPort = 0, plain = 0, attached = 0, rogue = 0, own = 0, a = 0, b = 0] =
    await freePorts(9);
  const models = "--embedding embed --slots";
  await startEngine(
    children,
    "plain",
    plain,
    `--models chat ${models} ${SLOTS} --audio voice --loaded chat,embed,voice ${SPEED}`,
  );
  await startEngine(children, "attached", attached, `--models extra ${models} ${SLOTS} --loaded extra,embed ${SPEED}`);
  const child = children.fork(
    new URL("../rogue/main.ts", import.meta.url),
    [rogue, seed, FAULTY_SHARE, PER_SECOND].map(String),
  );
  await answers(`${urlOf(rogue)}/v1/models`);
  const steady = await startProgram(children, "agent", "steady", steadyFile(steadyPort, own, attached));
  const script = await writeSwapScript(children.folder, { load: "300ms", slots: 16, tokensPerSecond: PER_SECOND });
  children.afterAll(() => endSwapped(children.folder));
  const swapper = await startProgram(children, "agent", "swapper", swapperFile(swapperPort, script.script, [a, b]));
  const gateway = await startProgram(
    children,
    "gateway",
    "gateway",
    gatewayFile(gatewayPort, { steadyPort, swapperPort, plain, rogue }),
  );
  await allListed(gateway.url);
  return {
    gateway,
    agents: [steady, swapper],
    rogue: { url: urlOf(rogue), child },
  };
}

/** The engine that the swap script has left running. */
function endSwapped(folder: string): void {
  try {
    process.kill(Number.parseInt(readFileSync(join(folder, "engine.pid"), "utf8"), 10), "SIGTERM");
  } catch {
    // There is none, or it has ended.
  }
}

function steadyFile(port: number, own: number, attached: number) {
  const command = `${process.execPath} ${FARMGATE} engine --single --models chat --port ${own} --slots ${SLOTS} ${SPEED}`;
  return {
    name: "steady",
    listen: { port },
    swap: { poll: "50ms" },
    models: [{ name: "chat", url: urlOf(own), command, slots: SLOTS, pinned: true }],
    engines: [
      {
        url: urlOf(attached),
        engine: "llama-server",
        slots: SLOTS,
        models: { extra: { pinned: true }, embed: { pinned: true } },
      },
    ],
  };
}

function swapperFile(port: number, script: string, ports: readonly number[]) {
  const models = ["swap-a", "swap-b"].map((name, i) => ({ name, url: urlOf(ports[i] ?? 0), slots: 16 }));
  return {
    name: "swapper",
    listen: { port },
    swap: { command: script, poll: "50ms", timeout: "20s" },
    queue: { maxWait: "5s" },
    models,
  };
}

function gatewayFile(port: number, ports: { steadyPort: number; swapperPort: number; plain: number; rogue: number }) {
  return {
    listen: { port },
    timeouts: { firstByte: "15s", idle: "8s" },
    limits: { queueWait: "20s" },
    workers: [
      { name: "steady", url: urlOf(ports.steadyPort), engine: "agent" },
      { name: "swapper", url: urlOf(ports.swapperPort), engine: "agent" },
      { name: "plain", url: urlOf(ports.plain), engine: "llama-server" },
      { name: "rogue", url: urlOf(ports.rogue), engine: "vllm", weight: SLOTS },
    ],
  };
}

async function allListed(gateway: string): Promise<void> {
  let listed: string[] = [];
  for (let tries = 0; tries < 300; tries += 1) {
    const { data } = (await (await fetch(`${gateway}/v1/models`)).json()) as { data: { id: string }[] };
    listed = data.map(({ id }) => id);
    if (LISTED.every((id) => listed.includes(id))) return;
    await sleep(100);
  }
  throw new Error(`the farm lists ${listed.join(", ")} and not all of ${LISTED.join(", ")}`);
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
