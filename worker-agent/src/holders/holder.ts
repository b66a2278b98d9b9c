import type { EngineFacts } from "../swap/engine-list.ts";
import type { ServedModel } from "../served-model.ts";

/** `reason` is a sentence for callers and the log; `tail` the last lines of a script's or command's output. */
export type HeldResult = { ok: true; tail: string } | { ok: false; reason: string; tail: string };

/**
 * One way to hold models: the owner's swap script, commands that the agent runs, or an attached engine. A holder does
 * what it is told and decides nothing: the scheduler says which model comes and which one goes, one after the other.
 */
export interface Holder {
  /**
   * Brings the model up; resolves once it is proved ready, or could not be, within its time-out. What was there before
   * and does not belong beside it has been unloaded already, unless it is this holder's way to replace it by itself
   * (a script without `unload`). Never rejects.
   */
  load(model: ServedModel, previous: string | null, signal: AbortSignal): Promise<HeldResult>;
  /** Takes the model out of memory; resolves once that is free again. Never rejects. */
  unload(model: ServedModel, signal: AbortSignal): Promise<HeldResult>;
  /** Whether the model answers as ready now. Loads nothing. */
  isReady(model: ServedModel, signal: AbortSignal): Promise<boolean>;
  /** Of its models, those that are loaded at start, before anything was asked of it: asked once. Loads nothing. */
  found(models: readonly ServedModel[], signal: AbortSignal): Promise<ServedModel[]>;
  /** The agent learned otherwise that the model is not loaded, as when a request met no engine. */
  lost(model: ServedModel): void;
  /** What a loaded model's engine tells of it. */
  facts(model: ServedModel, signal: AbortSignal): Promise<EngineFacts>;
  /** The agent stops: ends what must not outlive it. */
  close(): Promise<void>;
}
