import { setTimeout as sleep } from "node:timers/promises";
import { Connection, requestOf } from "./connection.ts";
import { type ClosedLoop, FILL, type Window } from "./jobs.ts";

export async function closedLoop(job: ClosedLoop, window: Window): Promise<void> {
  const request = requestOf(job.body.replace(FILL, () => "A".repeat(job.fill ?? 0)));
  let answers = 0;
  let failures = 0;
  const connections = Array.from({ length: job.connections }, () => {
    const connection = new Connection(job.port, {
      onEnd: () => {
        answers++;
        connection.send(request);
      },
      onFailure: () => failures++,
    });
    connection.send(request);
    return connection;
  });

  await sleep(job.warmupMs);
  const answersBefore = answers;
  const opened = performance.now();
  window.open();
  await sleep(job.windowMs);
  const ms = performance.now() - opened;
  window.close({ answers: answers - answersBefore, events: 0, ms, failures, firstEventMs: [] });
  for (const connection of connections) connection.close();
}
