import { setTimeout as sleep } from "node:timers/promises";
import { Connection, requestOf } from "./connection.ts";
import type { HeldStreams, Window } from "./jobs.ts";

export async function heldStreams(job: HeldStreams, window: Window): Promise<void> {
  const request = requestOf(job.body);
  let events = 0;
  let failures = 0;
  let begun = 0;
  const connections: Connection[] = [];
  const open = () => {
    let silent = true;
    const connection = new Connection(job.port, {
      onEvents: (count) => {
        events += count;
        if (silent) begun++;
        silent = false;
      },
      // The stub is asked for more chunks than the window is long: an end is a fault.
      onEnd: () => failures++,
      onFailure: () => failures++,
    });
    connection.send(request);
    connections.push(connection);
  };

  const start = performance.now();
  while (connections.length < job.connections) {
    const due = Math.min(job.connections, ((performance.now() - start) / job.rampMs) * job.connections);
    while (connections.length < due) open();
    await sleep(1);
  }
  await sleep(job.warmupMs);
  const eventsBefore = events;
  const opened = performance.now();
  window.open();
  await sleep(job.windowMs);
  const ms = performance.now() - opened;
  const silent = job.connections - begun;
  window.close({ answers: 0, events: events - eventsBefore, ms, failures: failures + silent, firstEventMs: [] });
  for (const connection of connections) connection.close();
}
