// A proxy under test: a running process on a loopback port.
import type { ChildProcess } from "node:child_process";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Children } from "../process/children.ts";
import { shortBody } from "../scenarios/bodies.ts";

export interface Target {
  name: string;
  port: number;
  pid: number;
  child: ChildProcess;
}

const READY_WITHIN_MS = 20_000;
const PROBE_EVERY_MS = 50;

/** The target, once a chat request through it is answered. */
export async function ready(children: Children, name: string, port: number, child: ChildProcess): Promise<Target> {
  const patience = performance.now() + READY_WITHIN_MS;
  while (performance.now() < patience) {
    if (!children.isRunning(child)) throw new Error(`${name} ended at once:\n${children.lastLines(child)}`);
    const answer = await ask(port, "/v1/chat/completions", shortBody).catch(() => undefined);
    if (answer?.status === 200 && child.pid !== undefined) return { name, port, pid: child.pid, child };
    await sleep(PROBE_EVERY_MS);
  }
  throw new Error(`${name} answered no chat request within 20 s:\n${children.lastLines(child)}`);
}

/** One request on a fresh connection: its status and how long the whole answer took. */
export function ask(port: number, path: string, body?: string): Promise<{ status: number; ms: number }> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const method = body === undefined ? "GET" : "POST";
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const options = { host: "127.0.0.1", port, path, method, headers, agent: false, timeout: 5_000 };
    const asked = request(options, (answer) => {
      answer.resume();
      answer.once("end", () => resolve({ status: answer.statusCode ?? 0, ms: performance.now() - began }));
      answer.once("error", reject);
    });
    asked.once("timeout", () => asked.destroy(new Error("no answer in time")));
    asked.once("error", reject);
    asked.end(body);
  });
}
