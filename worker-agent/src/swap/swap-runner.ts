import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Clock, Environment } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { HeldResult, Holder } from "../holders/holder.ts";
import type { ServedModel } from "../served-model.ts";
import type { EngineAsker } from "./ask-engine.ts";
import { askFacts } from "./ask-facts.ts";
import type { EngineFacts } from "./engine-list.ts";
import { loadedNames } from "./loaded-names.ts";
import { lookReady, waitReady } from "./readiness.ts";
import { endLeftoverScripts, type RunningNotes } from "./running-note.ts";
import { runScript, type ScriptResult, type ScriptRun } from "./run-script.ts";
import { logFileOf, readTail } from "./script-output.ts";

/** Limit on `COMMAND status`, in milliseconds: it only looks. */
const STATUS_MS = 10_000;

export interface SwapOptions {
  /** The swap command as words. */
  words: readonly string[];
  /** Working directory of the script: the configuration's folder. */
  directory: string;
  environment: Environment;
  /** Where the output files go. */
  outputDirectory: string;
  notes: RunningNotes;
  pollMs: number;
  /** The script knows `COMMAND status`. */
  asksStatus: boolean;
  /** The script knows `COMMAND unload MODEL`. */
  unloads: boolean;
  clock: Clock;
  log: Log;
}

type Run = Pick<ScriptRun, "timeoutMs" | "signal" | "finish"> & {
  args: readonly string[];
  model: ServedModel | null;
  previous: string | null;
  outputFile?: string;
};

/** Switches one machine's engines by the owner's script. It runs what it is told to and decides nothing. */
export class SwapRunner implements Holder {
  readonly #options: SwapOptions;
  readonly #asker: EngineAsker;

  constructor(options: SwapOptions, asker: EngineAsker) {
    this.#options = options;
    this.#asker = asker;
  }

  /**
   * Runs `COMMAND MODEL` and waits until the model is ready; its timeout counts both. What a load that failed has left
   * is unloaded, where the script can: it may load on, in memory that others are promised. Rejects never.
   */
  async load(model: ServedModel, previous: string | null, signal: AbortSignal): Promise<HeldResult> {
    const { clock, pollMs } = this.#options;
    const deadline = clock.now() + model.timeoutMs;
    const waitLoaded = async (script: ScriptResult): Promise<ScriptResult> => {
      if (!script.ok) return this.#failed(script.reason, script.tail);
      const missing = await waitReady(model, this.#asker, { deadline, pollMs, clock, signal });
      if (missing === null) return script;
      const tail = await readTail(this.#outputFile(model)).catch(() => script.tail);
      return { ok: false, reason: missing, tail };
    };
    const finish = async (script: ScriptResult): Promise<ScriptResult> => {
      const result = await waitLoaded(script);
      if (!result.ok && !signal.aborted) await this.#takeOut(model, signal);
      return result;
    };
    return this.#run({ args: [model.name], model, previous, timeoutMs: model.timeoutMs, signal, finish });
  }

  /**
   * To be called once, before anything is loaded: ends the scripts that agents before this one left behind when they
   * were killed, and unloads what they had begun to load and is not ready, or had begun to unload. What only another
   * load replaces is left to that.
   */
  async endLeftovers(models: readonly ServedModel[]): Promise<void> {
    const { notes, clock, log } = this.#options;
    const signal = new AbortController().signal;
    const ran = await endLeftoverScripts(notes, clock, async (note) => {
      const model = models.find(({ name, heldBy }) => name === note.model && heldBy.kind === "script");
      if (model === undefined || !this.#options.unloads) return;
      const wasGoing = isDeepStrictEqual(note.words, this.#unloadWords(model));
      if (!wasGoing && (await this.isReady(model, signal))) return;
      log.warn({ model: model.name }, `an earlier agent was ended in a swap: ${model.name} is unloaded`);
      await this.#takeOut(model, signal);
    });
    if (ran) log.warn("an earlier agent was killed in a swap: its script, still running, is ended");
  }

  /** Runs `COMMAND unload MODEL`. */
  async unload(model: ServedModel, signal: AbortSignal): Promise<HeldResult> {
    const finish = async (script: ScriptResult) => (script.ok ? script : this.#failed(script.reason, script.tail));
    return this.#run({ ...this.#unloading(model, signal), finish });
  }

  /** What a loaded model's engine tells of it. */
  facts(model: ServedModel, signal: AbortSignal): Promise<EngineFacts> {
    return askFacts(model, this.#asker, signal);
  }

  /** Nothing is kept here of what is loaded. */
  lost(): void {}

  async isReady(model: ServedModel, signal: AbortSignal): Promise<boolean> {
    return (await lookReady(model, this.#asker, signal)) === null;
  }

  /** Those that the script calls loaded, or without `status` those that answer as ready. Rejects when the script fails. */
  found(models: readonly ServedModel[], signal: AbortSignal): Promise<ServedModel[]> {
    if (models.length === 0) return Promise.resolve([]);
    return this.#options.asksStatus ? this.#reported(models, signal) : this.#ready(models, signal);
  }

  /** What the script started lives on. */
  async close(): Promise<void> {}

  /** The models that answer as ready now, each asked once. */
  async #ready(models: readonly ServedModel[], signal: AbortSignal): Promise<ServedModel[]> {
    const missing = await Promise.all(models.map((model) => lookReady(model, this.#asker, signal)));
    return models.filter((_, i) => missing[i] === null);
  }

  /** The models that `COMMAND status` calls loaded, in lines `MODEL: loaded`. Rejects when the script fails. */
  async #reported(models: readonly ServedModel[], signal: AbortSignal): Promise<ServedModel[]> {
    const script = await this.#run({ args: ["status"], model: null, previous: null, timeoutMs: STATUS_MS, signal });
    if (!script.ok) throw new Error(`${this.#scriptName()} status ${script.reason}`);
    const text = await readFile(this.#file("status"), "utf8");
    const loaded = loadedNames(text);
    return models.filter((model) => loaded.has(model.name.toLowerCase()));
  }

  /** What nobody has ordered to go. Its output has a file of its own: that of the load is wanted still. */
  async #takeOut(model: ServedModel, signal: AbortSignal): Promise<void> {
    if (!this.#options.unloads) return;
    const outputFile = this.#file("unload");
    const script = await this.#run({ ...this.#unloading(model, signal), outputFile });
    if (script.ok || signal.aborted) return;
    const { reason: error, tail } = script;
    this.#options.log.warn({ model: model.name, error, tail }, `what was left of ${model.name} could not be unloaded`);
  }

  #unloading(model: ServedModel, signal: AbortSignal): Run {
    return { args: ["unload", model.name], model, previous: model.name, timeoutMs: model.timeoutMs, signal };
  }

  #unloadWords(model: ServedModel): readonly string[] {
    return [...this.#options.words, "unload", model.name];
  }

  async #run({ args, model, previous, ...run }: Run): Promise<ScriptResult> {
    const { words, directory, environment, notes, clock } = this.#options;
    const told = {
      FARMGATE_MODEL: model?.name ?? "",
      FARMGATE_URL: model?.url ?? "",
      FARMGATE_PREVIOUS: previous ?? "",
    };
    const outputFile = model === null ? this.#file("status") : this.#outputFile(model);
    try {
      return await runScript({
        words: [...words, ...args],
        directory,
        environment: { ...environment, ...told },
        outputFile,
        notes,
        clock,
        ...run,
      });
    } catch (error) {
      return { ok: false, reason: `cannot be run: ${String(error)}`, tail: "" };
    }
  }

  #outputFile(model: ServedModel): string {
    return logFileOf(this.#options.outputDirectory, model);
  }

  #file(name: string): string {
    return join(this.#options.outputDirectory, `${name}.log`);
  }

  #failed(reason: string, tail: string): ScriptResult {
    return { ok: false, reason: `${this.#scriptName()} ${reason}`, tail };
  }

  #scriptName(): string {
    return basename(this.#options.words[0] ?? "");
  }
}
