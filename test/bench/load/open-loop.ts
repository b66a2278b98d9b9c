import { setTimeout as sleep } from "node:timers/promises";
import { Connection, requestOf } from "./connection.ts";
import type { OpenLoop, Window } from "./jobs.ts";

/** How long the requests of the window may go on after it. */
const STRAGGLERS_MS = 2_000;

export async function openLoop(job: OpenLoop, window: Window): Promise<void> {
  const request = requestOf(job.body);
  const idle: Line[] = [];
  const all: Line[] = [];
  const firstEventMs: number[] = [];
  let failures = 0;
  let counting = false;
  let counted = 0;

  const open = (): Line => {
    const line: Line = { sent: 0, silent: true, counts: false, connection: undefined };
    line.connection = new Connection(job.port, {
      onEvents: () => {
        if (line.silent && line.counts) firstEventMs.push(performance.now() - line.sent);
        line.silent = false;
      },
      onEnd: () => idle.push(line),
      onFailure: () => failures++,
    });
    all.push(line);
    return line;
  };
  const send = () => {
    const line = idle.pop() ?? open();
    line.silent = true;
    line.counts = counting;
    if (counting) counted++;
    line.sent = performance.now();
    line.connection?.send(request);
  };
  const sendFor = async (ms: number) => {
    const start = performance.now();
    let sent = 0;
    for (let past = 0; past < ms; past = performance.now() - start) {
      for (const due = (past * job.perSecond) / 1_000; sent < due; sent++) send();
      await sleep(1);
    }
  };

  await sendFor(job.warmupMs);
  counting = true;
  const opened = performance.now();
  window.open();
  await sendFor(job.windowMs);
  const ms = performance.now() - opened;
  const patience = performance.now() + STRAGGLERS_MS;
  while (firstEventMs.length < counted && performance.now() < patience) await sleep(5);
  const answers = firstEventMs.length;
  window.close({ answers, events: 0, ms, failures: failures + counted - answers, firstEventMs: [firstEventMs] });
  for (const line of all) line.connection?.close();
}

interface Line {
  connection: Connection | undefined;
  sent: number;
  silent: boolean;
  counts: boolean;
}
