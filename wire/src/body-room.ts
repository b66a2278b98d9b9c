import { totalmem } from "node:os";

/** What all bodies together may take where nobody says otherwise: 4 GiB, or half of a smaller machine's memory. */
const ROOM_BYTES = Math.min(4 * 1_024 ** 3, totalmem() / 2);

/** Room for the bodies of all requests that a program holds at one time, so that they cannot use up its memory. */
export class BodyRoom {
  readonly #bytes: number;
  #held = 0;

  constructor(bytes: number = ROOM_BYTES) {
    this.#bytes = bytes;
  }

  get heldBytes(): number {
    return this.#held;
  }

  /** The share of one request, empty at first. */
  share(): BodyShare {
    let own = 0;
    return {
      grow: (bytes) => {
        if (this.#held + bytes > this.#bytes) return false;
        this.#held += bytes;
        own += bytes;
        return true;
      },
      release: () => {
        this.#held -= own;
        own = 0;
      },
    };
  }
}

export interface BodyShare {
  /** Takes so many more bytes. False: there is no room, and none were taken. */
  grow(bytes: number): boolean;
  /** Gives back all of it. */
  release(): void;
}
