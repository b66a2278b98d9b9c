/** What is said of where a worker is, by its own registration or by another gateway; or that it has left. */
export interface Word {
  name: string;
  instance: string;
  by: "worker" | "gateway" | "leaving";
}

/** A word that is looked at before it is put in force. */
export interface PendingWord extends Word {
  /** One that came later is in force: this one is not to be put in its place. */
  isOvertaken: boolean;
}

/** Sees to it that words which are looked at for different times end as if each had been put in force when it came. */
export class PendingWords {
  /** In the order in which they came; each from `begin` to `end`. */
  readonly #pending = new Set<PendingWord>();

  /** From now on until `end` it may be overtaken. */
  begin(word: Word): PendingWord {
    const pending = { ...word, isOvertaken: false };
    this.#pending.add(pending);
    return pending;
  }

  end(word: PendingWord): void {
    this.#pending.delete(word);
  }

  /** This word is put in force now. One that did not `begin` came after all that did. */
  settle(word: Word): void {
    for (const earlier of this.#pending) {
      if (earlier === word) return;
      if (overtakes(word, earlier)) earlier.isOvertaken = true;
    }
  }
}

/**
 * Whether a word has an earlier one count no more:
 *
 * 1. of another worker: no;
 * 2. it has left: what that same run of it said, or was said of it;
 * 3. another gateway tells of the same run, which registers here as well: no, its own word counts for more;
 * 4. any other: yes.
 */
function overtakes({ name, instance, by }: Word, earlier: Word): boolean {
  if (name !== earlier.name) return false; // (1)
  const isSameRun = instance === earlier.instance;
  if (by === "leaving") return isSameRun; // (2)
  return !(by === "gateway" && earlier.by === "worker" && isSameRun); // (3), (4)
}
