/** Things done one after the other for each name, in the order in which they were asked for. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` after everything asked for before under this name. */
  take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(name) ?? Promise.resolve()).then(work);
    const settled = turn
      .catch(() => {})
      .then(() => {
        if (this.#last.get(name) === settled) this.#last.delete(name);
      });
    this.#last.set(name, settled);
    return turn;
  }

  /** Those for which something is under way. */
  names(): string[] {
    return [...this.#last.keys()];
  }
}
