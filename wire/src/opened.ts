import type { Log } from "./log.ts";

/** What a start has opened so far. */
export class Opened {
  readonly #closes: (() => unknown)[] = [];

  /** `close` is called where a later step of the start fails; what it throws keeps nothing else open. */
  add<T>(thing: T, close: (thing: T) => unknown): T {
    this.#closes.push(() => close(thing));
    return thing;
  }

  /** Closes all of it, the last one first, each after the one before. */
  async close(log: Pick<Log, "debug">): Promise<void> {
    for (const close of this.#closes.splice(0).toReversed()) {
      try {
        await close();
      } catch (err) {
        log.debug({ err }, "what a failed start had opened did not close");
      }
    }
  }
}

/** Starts a program as a whole or not at all: where `start` fails, what it had opened is closed before this rejects. */
export async function openedWhole<T>(log: Pick<Log, "debug">, start: (opened: Opened) => Promise<T>): Promise<T> {
  const opened = new Opened();
  try {
    return await start(opened);
  } catch (error) {
    await opened.close(log);
    throw error;
  }
}
