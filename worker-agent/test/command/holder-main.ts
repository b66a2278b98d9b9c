/**
 * An agent's part that holds commands, as a program of its own that can be killed: adopts or ends what was left, loads
 * the model given as JSON, then does what it is told: `unload` on standard input. `dieAt` kills it at once.
 */
import { writeSync } from "node:fs";
import { createLog, createSystemClock } from "@farmgate/wire";
import { CommandHolder } from "../../src/command/command-holder.ts";
import type { ServedModel } from "../../src/served-model.ts";
import { EngineAsker } from "../../src/swap/ask-engine.ts";
import type { ProcessIdentity } from "../../src/swap/process-identity.ts";
import { type Forget, type NotedRun, RunningNotes } from "../../src/swap/running-note.ts";

export interface HolderOrder {
  directory: string;
  model: ServedModel;
  dieAt: "before the note" | "after the note" | null;
}

const order = JSON.parse(process.argv[2] ?? "") as HolderOrder;
const say = (text: string) => writeSync(1, `${text}\n`);
const never = new AbortController().signal;

class WatchedNotes extends RunningNotes {
  override async add(running: ProcessIdentity, run: NotedRun): Promise<Forget> {
    say(`gate ${running.pid}`);
    if (order.dieAt === "before the note") process.kill(process.pid, "SIGKILL");
    const forget = await super.add(running, run);
    if (order.dieAt === "after the note") process.kill(process.pid, "SIGKILL");
    return forget;
  }
}

const { directory, model } = order;
const clock = createSystemClock();
const options = {
  directory,
  environment: process.env,
  outputDirectory: directory,
  notes: new WatchedNotes(`${directory}/running`),
  pollMs: 10,
  clock,
  log: createLog("agent", "silent"),
  onLost: (name: string, reason: string) => say(`lost ${name} ${reason}`),
};
const holder = new CommandHolder(options, new EngineAsker(clock));
await holder.endOrAdoptLeftovers([model]);
const found = await holder.found([model], never);
say(`found ${found.map(({ name }) => name).join()}`);
const result = await holder.load(model, null, never);
say(result.ok ? "loaded" : `failed ${result.reason}`);
process.stdin.on("data", () => {
  say("unloading");
  void holder.unload(model, never).then(() => say("unloaded"));
});
