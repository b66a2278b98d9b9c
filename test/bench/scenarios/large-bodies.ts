// (f) Large requests, as JSON with a picture and as forms with a recording: what a
// proxy pays for each MB.
import { cpuMs } from "../process/proc-stat.ts";
import { rowOfRounds, type Row } from "../report/row.ts";
import type { Target } from "../targets/target.ts";
import { pictureBody, recordingBody } from "./bodies.ts";
import { interleave } from "./interleave.ts";
import { namesOf, targetNamed } from "./scenario.ts";
import type { Bench, Scenario } from "./scenario.ts";

const MB = 1_000_000;
const FORMS = { JSON: pictureBody, form: recordingBody };

export const largeBodies: Scenario = async (bench) => {
  const rows: Row[] = [];
  for (const megabytes of bench.plan.largeBodies.megabytes) {
    for (const [form, body] of Object.entries(FORMS)) {
      const rounds = { ...bench.plan.largeBodies, warmups: 1 };
      const cpu = await interleave(namesOf(bench), rounds, (name) =>
        once(bench, targetNamed(bench, name), body, megabytes),
      );
      rows.push(rowOfRounds(`CPU per MB of ${megabytes} MB bodies, ${form}, us`, cpu));
    }
  }
  return rows;
};

async function once(bench: Bench, target: Target, body: string, megabytes: number): Promise<number> {
  let cpu = 0;
  const outcome = await bench.load.run(
    { kind: "closed-loop", port: target.port, body, fill: megabytes * MB, ...bench.plan.largeBodies },
    { onOpen: () => (cpu -= cpuMs(target.pid)), onClose: () => (cpu += cpuMs(target.pid)) },
  );
  bench.failures(`bodies of ${megabytes} MB`, target, outcome);
  return (cpu * 1_000) / (outcome.answers * megabytes);
}
