import type { HeldResult, Holder } from "./holder.ts";
import type { HeldBy, ServedModel } from "../served-model.ts";
import type { EngineFacts } from "../swap/engine-list.ts";

/** The holder of each kind; null: this agent has none. */
export type HolderKinds = Readonly<Record<HeldBy["kind"], Holder | null>>;

/** Every way in which this agent holds models, as one: each model is left to the holder of its kind. */
export class Holders implements Omit<Holder, "found"> {
  readonly #kinds: HolderKinds;

  constructor(kinds: HolderKinds) {
    this.#kinds = kinds;
  }

  load(model: ServedModel, previous: string | null, signal: AbortSignal): Promise<HeldResult> {
    return this.#of(model).load(model, previous, signal);
  }

  unload(model: ServedModel, signal: AbortSignal): Promise<HeldResult> {
    return this.#of(model).unload(model, signal);
  }

  isReady(model: ServedModel, signal: AbortSignal): Promise<boolean> {
    return this.#of(model).isReady(model, signal);
  }

  lost(model: ServedModel): void {
    this.#of(model).lost(model);
  }

  facts(model: ServedModel, signal: AbortSignal): Promise<EngineFacts> {
    return this.#of(model).facts(model, signal);
  }

  /** Asks the holder of this kind what is loaded at start. Rejects when it cannot tell. */
  async found(kind: HeldBy["kind"], models: readonly ServedModel[], signal: AbortSignal): Promise<ServedModel[]> {
    const held = models.filter(({ heldBy }) => heldBy.kind === kind);
    return (await this.#kinds[kind]?.found(held, signal)) ?? [];
  }

  async close(): Promise<void> {
    for (const holder of Object.values(this.#kinds)) await holder?.close();
  }

  #of({ name, heldBy }: ServedModel): Holder {
    const holder = this.#kinds[heldBy.kind];
    if (holder === null) throw new Error(`nothing here loads ${name}`);
    return holder;
  }
}
