import { setTimeout as sleep } from "node:timers/promises";
import { Connection, requestOf } from "./connection.ts";
import type { Sequential, Window } from "./jobs.ts";

interface Line {
  connection: Connection;
  firstEventMs: number[];
  sent: number;
  silent: boolean;
  ended: () => void;
}

export async function sequential(job: Sequential, window: Window): Promise<void> {
  const request = requestOf(job.body);
  let failures = 0;
  const lines = job.ports.map((port): Line => {
    const line: Line = {
      connection: new Connection(port, {
        onEvents: () => {
          if (line.silent) line.firstEventMs.push(performance.now() - line.sent);
          line.silent = false;
        },
        onEnd: () => line.ended(),
        onFailure: () => {
          failures++;
          line.ended();
        },
      }),
      firstEventMs: [],
      sent: 0,
      silent: true,
      ended: () => {},
    };
    return line;
  });

  const opened = performance.now();
  window.open();
  for (let round = 0; round < job.warmups + job.count; round++) {
    for (const line of lines) {
      if (line.connection.broken) continue;
      await ask(line, request);
      await sleep(job.pauseMs);
    }
  }
  window.close({
    answers: lines.length * job.count,
    events: 0,
    ms: performance.now() - opened,
    failures,
    firstEventMs: lines.map((line) => line.firstEventMs.slice(job.warmups)),
  });
  for (const line of lines) line.connection.close();
}

function ask(line: Line, request: Buffer): Promise<void> {
  return new Promise((resolve) => {
    line.ended = resolve;
    line.silent = true;
    line.sent = performance.now();
    line.connection.send(request);
  });
}
