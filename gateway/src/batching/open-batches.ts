export interface BatchRules {
  /** Inputs that go in one joined request. */
  inputs: number;
  /** Bytes that the bodies of those who are joined may have together. */
  bytes: number;
}

/** How much room a request takes in a joined one. */
export interface Size {
  inputs: number;
  bytes: number;
}

/** Requests that go together. */
export interface Batch<M> {
  readonly key: string;
  /** In order of arrival; who has left is none of them. */
  readonly members: Set<M>;
  /** Called when the last one has left. */
  onEmpty: () => void;
}

/** Requests that wait for others like them. Knows neither time nor sockets. */
export class OpenBatches<M extends Size> {
  readonly #byKey = new Map<string, Batch<M>>();

  /**
   * Adds a request to the open batch of its key. `isNew`: the batch's time begins. `full`: batches that must not wait
   * any longer, in order; they are open no more.
   * (1) One that has no room in the open batch goes in the next. (2) A batch without room for one more input is full.
   */
  add(key: string, member: M, rules: BatchRules): { batch: Batch<M>; isNew: boolean; full: Batch<M>[] } {
    const full: Batch<M>[] = [];
    const open = this.#byKey.get(key);
    const fits = open !== undefined && hasRoom([...open.members, member], rules);
    if (open !== undefined && !fits && this.close(open)) full.push(open); // (1)
    const batch = open !== undefined && fits ? open : { key, members: new Set<M>(), onEmpty: () => {} };
    this.#byKey.set(key, batch);
    batch.members.add(member);
    if (sizeOf(batch.members).inputs >= rules.inputs && this.close(batch)) full.push(batch); // (2)
    return { batch, isNew: batch !== open, full };
  }

  /** False: it was closed before. */
  close(batch: Batch<M>): boolean {
    return this.#byKey.get(batch.key) === batch && this.#byKey.delete(batch.key);
  }
}

function hasRoom(members: readonly Size[], rules: BatchRules): boolean {
  const { inputs, bytes } = sizeOf(members);
  return inputs <= rules.inputs && bytes <= rules.bytes;
}

function sizeOf(members: Iterable<Size>): Size {
  let inputs = 0;
  let bytes = 0;
  for (const member of members) {
    inputs += member.inputs;
    bytes += member.bytes;
  }
  return { inputs, bytes };
}
