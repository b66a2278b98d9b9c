import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import type { Clock, Environment } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { HeldResult, Holder } from "../holders/holder.ts";
import type { ServedModel } from "../served-model.ts";
import type { EngineAsker } from "../swap/ask-engine.ts";
import { askFacts } from "../swap/ask-facts.ts";
import type { EngineFacts } from "../swap/engine-list.ts";
import { howEnded, launch } from "../swap/launch.ts";
import { lookReady, waitReady } from "../swap/readiness.ts";
import type { Leftover, RunningNotes } from "../swap/running-note.ts";
import { logFileOf, openOutput, readTail } from "../swap/script-output.ts";
import { splitWords } from "../swap/split-words.ts";
import { RUN_VARIABLE } from "../swap/strays.ts";
import { endRemains, modelOf, remainsOf } from "./leftovers.ts";
import { accepts, waitClosed } from "./port.ts";
import { endOf, RunningCommand } from "./running-command.ts";
import { Turns } from "./turns.ts";

/** How long a port may stay open after the end of the process that had it, in milliseconds. */
const PORT_MS = 5_000;

export interface CommandOptions {
  /** Working directory of the commands: the configuration's folder. */
  directory: string;
  /** Without what the configuration uses as a secret. */
  environment: Environment;
  /** Where the output files go. */
  outputDirectory: string;
  notes: RunningNotes;
  pollMs: number;
  clock: Clock;
  log: Log;
  /** A model that was ready is gone, and nobody ordered it: its process ended. Called once for each such end. */
  onLost(model: string, reason: string): void;
}

/**
 * Holds models by running their commands: each is a process group of its own that lives as long as its model is loaded, with
 * what has left that group (`strays.ts`).
 * For each model one thing is done at a time; an order to unload ends the loads that were ordered before it.
 */
export class CommandHolder implements Holder {
  readonly #options: CommandOptions;
  readonly #asker: EngineAsker;
  readonly #running = new Map<string, RunningCommand>();
  readonly #turns = new Turns();
  /** Ends the loads of a model that were ordered so far. */
  readonly #loads = new Map<string, AbortController>();
  #closed = false;

  constructor(options: CommandOptions, asker: EngineAsker) {
    this.#options = options;
    this.#asker = asker;
  }

  load(model: ServedModel, _previous: string | null, signal: AbortSignal): Promise<HeldResult> {
    let stop = this.#loads.get(model.name);
    if (stop === undefined) this.#loads.set(model.name, (stop = new AbortController()));
    const either = AbortSignal.any([signal, stop.signal]);
    return this.#turns.take(model.name, () => this.#load(model, either)).catch(failedBy);
  }

  /** Goes through with it whatever the signal says: its limits are the model's grace and the system's. */
  async unload(model: ServedModel, _signal: AbortSignal): Promise<HeldResult> {
    this.#stopLoads(model.name);
    const running = this.#running.get(model.name);
    if (running !== undefined) running.isUnwanted = true;
    return this.#turns.take(model.name, () => this.#unload(model)).catch(failedBy);
  }

  async isReady(model: ServedModel, signal: AbortSignal): Promise<boolean> {
    const running = this.#running.get(model.name);
    if (running === undefined || !(await running.runs())) return false;
    return (await lookReady(model, this.#asker, signal)) === null;
  }

  /** Those that `endOrAdoptLeftovers` adopted and that still run. */
  async found(models: readonly ServedModel[], _signal: AbortSignal): Promise<ServedModel[]> {
    return models.filter(({ name }) => this.#running.get(name)?.isAdopted === true);
  }

  /** Its process is watched: the next load finds it running or gone. */
  lost(): void {}

  facts(model: ServedModel, signal: AbortSignal): Promise<EngineFacts> {
    return askFacts(model, this.#asker, signal);
  }

  /** Ends all commands at once, each with its own grace. Whatever is ordered after it fails. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const name of this.#loads.keys()) this.#stopLoads(name);
    for (const running of this.#running.values()) running.isUnwanted = true;
    const names = new Set([...this.#turns.names(), ...this.#running.keys()]);
    await Promise.all([...names].map((name) => this.#turns.take(name, () => this.#endCommand(name))));
  }

  /**
   * To be called once, before any load: what agents that were killed left running is supervised on where the model is
   * still configured with the same command and is ready, and ended otherwise.
   */
  async endOrAdoptLeftovers(models: readonly ServedModel[]): Promise<void> {
    const leftovers = await this.#options.notes.leftovers("command");
    const done = leftovers.map((one) => this.#turns.take(one.note.model, () => this.#endOrAdopt(one, models)));
    await Promise.all(done);
  }

  async #load(model: ServedModel, signal: AbortSignal): Promise<HeldResult> {
    const deadline = this.#options.clock.now() + model.timeoutMs;
    const program = programOf(model);
    if (signal.aborted || this.#closed) return { ok: false, reason: `${program} was stopped`, tail: "" };
    let running = this.#running.get(model.name);
    // Whoever orders a load of what was ready knows already that it died: it need not be told, nor does this load fail.
    if (running !== undefined && !(await running.runs()) && (await this.#endCommand(model.name))) running = undefined;
    if (running === undefined) {
      if (await accepts(model.url, this.#options.clock)) {
        return { ok: false, reason: `something else answers at ${model.url}: ${program} was not started`, tail: "" };
      }
      const started = await this.#start(model);
      if (typeof started === "string") return { ok: false, reason: `${program} ${started}`, tail: "" };
      running = started;
    }
    const missing = await this.#waitReady(running, deadline, signal);
    const tail = await this.#tailOf(model);
    // From here to the answer nothing waits, so that an end of the process is either this failure or a loss.
    if (missing === null && running.ended === null) {
      running.isResident = true;
      return { ok: true, tail };
    }
    running.isUnwanted = true;
    await this.#endCommand(model.name);
    const reason = missing ?? `${program} ${running.ended ?? "ended"} as it became ready`;
    return { ok: false, reason, tail: await this.#tailOf(model) };
  }

  /** Why it cannot be run, in words that follow the program's name, or the command that runs. */
  async #start(model: ServedModel): Promise<RunningCommand | string> {
    const { directory, environment, outputDirectory, notes, clock } = this.#options;
    const words = wordsOf(model);
    const noted = { kind: "command", model: model.name, url: model.url, words, run: randomUUID() } as const;
    const told = { FARMGATE_MODEL: model.name, FARMGATE_URL: model.url, [RUN_VARIABLE]: noted.run };
    const output = await openOutput(logFileOf(outputDirectory, model));
    const run = { words, directory, environment: { ...environment, ...told }, output: output.fd, notes, noted };
    const { pid, identity, exited, forget } = await launch(run);
    await output.close();
    const how = exited.then(howEnded);
    if (pid === null) return how;
    const running = new RunningCommand(model, { pid, identity, run: noted.run, exited: how, forget }, false, clock);
    this.#supervise(running);
    return running;
  }

  /** null: its own process is ready; else why not. */
  async #waitReady(running: RunningCommand, deadline: number, signal: AbortSignal): Promise<string | null> {
    const { model } = running;
    const { pollMs, clock } = this.#options;
    const died = new AbortController();
    void running.exited.then(() => died.abort());
    const wait = { deadline, pollMs, clock, signal: AbortSignal.any([signal, died.signal]) };
    const missing = await waitReady(model, this.#asker, wait);
    if (missing === null && (await running.runs())) return null;
    if (missing === null || running.ended !== null) {
      return `${programOf(model)} ${await running.exited} before it was ready`;
    }
    return signal.aborted ? `${programOf(model)} was stopped` : missing;
  }

  async #unload(model: ServedModel): Promise<HeldResult> {
    const { clock } = this.#options;
    const running = this.#running.get(model.name);
    if (running === undefined) return { ok: true, tail: "" };
    if (!(await this.#endCommand(model.name))) {
      running.isUnwanted = false;
      const reason = `processes of ${programOf(model)} could not be ended`;
      return { ok: false, reason, tail: await this.#tailOf(model) };
    }
    if (await waitClosed(model.url, PORT_MS, clock)) return { ok: true, tail: "" };
    const reason = `${programOf(model)} has ended, but something still answers at ${model.url}`;
    return { ok: false, reason, tail: "" };
  }

  /** False: some of its processes could not be ended. */
  async #endCommand(name: string): Promise<boolean> {
    const running = this.#running.get(name);
    if (running === undefined) return true;
    const gone = await running.end();
    if (gone) this.#running.delete(name);
    else this.#options.log.error({ model: name }, `processes of ${name} could not be ended`);
    return gone;
  }

  #supervise(running: RunningCommand): void {
    const { name } = running.model;
    this.#running.set(name, running);
    void running.exited.then(() => this.#turns.take(name, () => this.#died(running)));
  }

  /** What is left of the group is ended first: whatever is loaded next needs its memory. */
  async #died(running: RunningCommand): Promise<void> {
    const { model } = running;
    if (this.#running.get(model.name) !== running) return;
    await this.#endCommand(model.name);
    if (running.isUnwanted || !running.isResident) return;
    const reason = `${programOf(model)} ${running.ended ?? "ended"}`;
    const tail = await this.#tailOf(model);
    this.#options.onLost(model.name, tail === "" ? reason : `${reason}: ${tail}`);
  }

  async #endOrAdopt({ note, forget }: Leftover, models: readonly ServedModel[]): Promise<void> {
    const { clock, log } = this.#options;
    const remains = await remainsOf(note);
    if (remains === "nothing") return forget();
    const line = { model: note.model, pid: note.process.pid, command: note.words[0] };
    const model = remains === "process" && !this.#running.has(note.model) ? modelOf(note, models) : null;
    if (model !== null && (await lookReady(model, this.#asker, new AbortController().signal)) === null) {
      const { pid } = note.process;
      const process = { pid, identity: note.process, run: note.run, exited: endOf(note.process, clock), forget };
      const running = new RunningCommand(model, process, true, clock);
      running.isResident = true;
      this.#supervise(running);
      log.info(line, `${note.model} was left running by an agent that was killed, and is held on`);
      return;
    }
    log.warn(line, `the command of ${note.model} was left behind by an agent that was killed, and is ended`);
    if (await endRemains(note, models, clock)) await forget();
    else log.error(line, `what was left of the command of ${note.model} could not be ended`);
  }

  #tailOf(model: ServedModel): Promise<string> {
    return readTail(logFileOf(this.#options.outputDirectory, model)).catch(() => "");
  }

  #stopLoads(name: string): void {
    this.#loads.get(name)?.abort();
    this.#loads.delete(name);
  }
}

function wordsOf({ heldBy }: ServedModel): readonly string[] {
  return (heldBy.kind === "command" ? splitWords(heldBy.command) : null) ?? [];
}

function programOf(model: ServedModel): string {
  return basename(wordsOf(model)[0] ?? "");
}

/** As a log file that cannot be written. */
function failedBy(error: unknown): HeldResult {
  return { ok: false, reason: `cannot be run: ${String(error)}`, tail: "" };
}
