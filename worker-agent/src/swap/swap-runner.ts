import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Clock, Environment } from "@farmgate/shared";
import type { HeldResult, Holder } from "../holders/holder.ts";
import type { ServedModel } from "../served-model.ts";
import type { EngineAsker } from "./ask-engine.ts";
import { askFacts } from "./ask-facts.ts";
import type { EngineFacts } from "./engine-list.ts";
import { lookReady, waitReady } from "./readiness.ts";
import { endLeftoverScripts, type RunningNotes } from "./running-note.ts";
import { runScript, type ScriptResult } from "./run-script.ts";
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
  clock: Clock;
}

/** Switches one machine's engines by the owner's script. It runs what it is told to and decides nothing. */
export class SwapRunner implements Holder {
  readonly #options: SwapOptions;
  readonly #asker: EngineAsker;

  constructor(options: SwapOptions, asker: EngineAsker) {
    this.#options = options;
    this.#asker = asker;
  }

  /** Runs `COMMAND MODEL` and waits until the model is ready; its timeout counts both. Rejects never. */
  async load(model: ServedModel, previous: string | null, signal: AbortSignal): Promise<HeldResult> {
    const { clock, pollMs } = this.#options;
    const deadline = clock.now() + model.timeoutMs;
    const script = await this.#run([model.name], model, previous, model.timeoutMs, signal);
    if (!script.ok) return this.#failed(script.reason, script.tail);
    const missing = await waitReady(model, this.#asker, { deadline, pollMs, clock, signal });
    if (missing === null) return { ok: true, tail: script.tail };
    const tail = await readTail(this.#outputFile(model)).catch(() => script.tail);
    return { ok: false, reason: missing, tail };
  }

  /** Ends the script that an earlier agent left behind when it was killed; tells whether there was one. */
  endLeftover(): Promise<boolean> {
    return endLeftoverScripts(this.#options.notes, this.#options.clock);
  }

  /** Runs `COMMAND unload MODEL`. */
  async unload(model: ServedModel, signal: AbortSignal): Promise<HeldResult> {
    const script = await this.#run(["unload", model.name], model, model.name, model.timeoutMs, signal);
    return script.ok ? { ok: true, tail: script.tail } : this.#failed(script.reason, script.tail);
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
    const script = await this.#run(["status"], null, null, STATUS_MS, signal);
    if (!script.ok) throw new Error(`${this.#scriptName()} status ${script.reason}`);
    const text = await readFile(this.#file("status"), "utf8");
    const loaded = new Set<string>();
    for (const line of text.split("\n")) {
      const match = /^\s*(.+?)\s*:\s*loaded\s*$/i.exec(line);
      if (match?.[1] !== undefined) loaded.add(match[1].toLowerCase());
    }
    return models.filter((model) => loaded.has(model.name.toLowerCase()));
  }

  async #run(
    args: readonly string[],
    model: ServedModel | null,
    previous: string | null,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ScriptResult> {
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
        timeoutMs,
        clock,
        signal,
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

  #failed(reason: string, tail: string): HeldResult {
    return { ok: false, reason: `${this.#scriptName()} ${reason}`, tail };
  }

  #scriptName(): string {
    return basename(this.#options.words[0] ?? "");
  }
}
