// Programs of the product for a run that lasts: each its own process with its log in a file.
import type { ChildProcess } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import type { Children } from "../../bench/process/children.ts";
import { FARMGATE } from "../../harness/farmgate-process.ts";

export interface Program {
  name: string;
  url: string;
  pid: number;
  child: ChildProcess;
}

const READY_WITHIN_MS = 30_000;

/** `farmgate engine` on a port; `flags` as on the command line. */
export function startEngine(children: Children, name: string, port: number, flags: string): Promise<Program> {
  return start(children, name, port, ["engine", "--port", String(port), ...flags.split(" ")], "/health");
}

/** `farmgate gateway` or `farmgate agent` with this file. */
export function startProgram(
  children: Children,
  kind: "gateway" | "agent",
  name: string,
  config: { listen: { port: number } },
): Promise<Program> {
  const file = join(children.folder, `${name}.yaml`);
  writeFileSync(file, stringify(config));
  return start(children, name, config.listen.port, [kind, "--config", file], kind === "gateway" ? "/livez" : "/health");
}

async function start(children: Children, name: string, port: number, args: string[], path: string): Promise<Program> {
  if (!existsSync(FARMGATE)) throw new Error("the product is not built: run `npm run build` first");
  const child = children.spawn(name, process.execPath, [FARMGATE, ...args]);
  const url = `http://127.0.0.1:${port}`;
  await answers(`${url}${path}`, () => {
    if (!children.isRunning(child)) throw new Error(`${name} ended at once:\n${children.lastLines(child)}`);
  });
  return { name, url, pid: child.pid ?? 0, child };
}

/** Resolves with the moment (performance.now) when it answers 200; `look` may throw before each try. */
export async function answers(url: string, look: () => void = () => {}): Promise<number> {
  const patience = performance.now() + READY_WITHIN_MS;
  while (performance.now() < patience) {
    look();
    const isGood = await fetch(url).then(
      async (answer) => (await answer.text(), answer.ok),
      () => false,
    );
    if (isGood) return performance.now();
    await sleep(20);
  }
  throw new Error(`no answer from ${url} within ${READY_WITHIN_MS / 1_000} s`);
}
