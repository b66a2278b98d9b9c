import type { Log } from "@farmgate/wire";
import closeWithGrace from "close-with-grace";
import type { Io } from "./io.ts";

/** Time beyond the drain for sockets and scripts to close, in milliseconds. */
const MARGIN_MS = 5_000;

export interface GracefulEndOptions {
  io: Io;
  log: Log;
  /** How long `close` may let running answers go on, in milliseconds. */
  drainMs: number;
  close: () => Promise<void>;
  /** Called before an exit that waits for nothing: a second signal, or a close that takes too long. */
  endHard?: () => void;
}

export interface GracefulEnd {
  /** Closes and exits with 1. */
  fail(reason: string): void;
  /** Never resolves: the process exits. */
  ended: Promise<never>;
}

/**
 * Keeps the program up until SIGTERM, SIGINT, the end of the process that started it, or an error that nobody caught;
 * then closes and exits: 0 after a clean end, 1 after an error or a close that takes too long. A second signal exits
 * at once.
 */
export function graceful({ io, log, drainMs, close, endHard }: GracefulEndOptions): GracefulEnd {
  let failure: string | null = null;
  let closing = false;
  const hard = (why: string) => {
    log.warn(`${why}: ending now`);
    endHard?.();
  };
  const grace = closeWithGrace(
    {
      delay: drainMs + MARGIN_MS,
      logger: { error: (error: unknown) => log.error({ err: error }, "ended with an error") },
      onSecondSignal: (signal) => hard(`a second signal (${signal})`),
      onSecondError: (error) => hard(`another error while closing (${String(error)})`),
      onTimeout: () => hard("closing takes too long"),
    },
    async ({ err, signal }) => {
      closing = true;
      if (err) log.error({ err }, "an error that nobody caught: closing");
      else log.info(`${failure ?? signal ?? "the program that started this one has gone"}: closing`);
      await close();
      if (failure !== null) throw new Error(failure);
    },
  );
  const endNow = () => {
    if (!closing) grace.close();
  };
  io.whenParentLeaves(endNow);
  return {
    fail(reason) {
      failure ??= reason;
      endNow();
    },
    ended: new Promise<never>(() => undefined),
  };
}
