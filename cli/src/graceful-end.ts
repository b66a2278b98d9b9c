import type { Log } from "@farmgate/wire";
import closeWithGrace from "close-with-grace";
import { EXIT } from "./exit-code.ts";
import type { Io } from "./io.ts";

/** Time beyond the drain for sockets and scripts to close, in milliseconds. */
const MARGIN_MS = 5_000;
/** A timer cannot wait longer, in milliseconds: beyond this it would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;
/**
 * Signals that follow the first one this closely are the same wish: under `npm start` a Ctrl-C comes from the
 * terminal and once more from npm.
 */
const ECHO_MS = 1_000;

/** What the system sends to a program that has broken. One that listened for them would go on breaking for ever. */
const CRASHES = ["SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV"] as const;

export interface GracefulEndOptions {
  io: Io;
  log: Log;
  /** How long `close` may let running answers go on, in milliseconds; asked when it begins. */
  drainMs: () => number;
  /** `isBroken`: for an error that nobody caught. */
  close: (isBroken: boolean) => Promise<void>;
  /** Called for a SIGHUP that is no terminal's end. */
  onHangUp: () => void;
  /** Called before an exit that waits for nothing: a second signal, or a close that takes too long. */
  endHard?: () => void;
}

export interface GracefulEnd {
  /** Closes and exits with 0, unless it does so already. */
  begin(reason: string): void;
  /** Closes and exits with 1. */
  fail(reason: string): void;
  /** Never resolves: the process exits. */
  ended: Promise<never>;
}

/**
 * Keeps the program up until SIGTERM, SIGINT, the end of its terminal or of the process that started it, or an error
 * that nobody caught; then closes and exits: 0 after a clean end, 1 after an error or a close that takes too long. A
 * second signal ends it at once, with 1. A SIGHUP from elsewhere than a terminal asks for another look at the file.
 */
export function graceful({ io, log, drainMs, close, onHangUp, endHard }: GracefulEndOptions): GracefulEnd {
  let failure: string | null = null;
  let closingSince: number | null = null;
  const hard = (why: string) => {
    log.warn(`${why}: ending now`);
    endHard?.();
  };
  const grace = closeWithGrace(
    {
      // Its own limit would be that of the start; the one here is that of the end.
      delay: false,
      skip: ["SIGTERM", "SIGINT", "SIGHUP", ...CRASHES],
      logger: { error: (error: unknown) => log.error({ err: error }, "ended with an error") },
      onSecondSignal: (signal) => hard(`a second signal (${signal})`),
      onSecondError: (error) => hard(`another error while closing (${String(error)})`),
    },
    async ({ err }) => {
      closingSince ??= io.clock.now();
      if (err) log.error({ err }, "an error that nobody caught: closing");
      // What a close waits for may be timers that do not keep the process up; this one does.
      setTimeout(
        () => {
          hard("closing takes too long");
          io.exit(EXIT.failure);
        },
        Math.min(drainMs() + MARGIN_MS, LONGEST_MS),
      );
      await close(err !== undefined);
      if (failure !== null) throw new Error(failure);
    },
  );
  const begin = (why: string) => {
    if (closingSince !== null) return;
    closingSince = io.clock.now();
    log.info(`${why}: closing`);
    grace.close();
  };
  io.onSignal((signal) => {
    if (signal === "SIGHUP") {
      if (io.onTerminal) begin("the terminal was closed");
      else if (closingSince === null) onHangUp();
    } else if (closingSince === null) {
      begin(signal);
    } else if (io.clock.now() - closingSince > ECHO_MS) {
      hard(`a second signal (${signal})`);
      io.exit(EXIT.failure);
    }
  });
  io.whenParentLeaves(() => begin("the program that started this one has gone"));
  return {
    begin,
    fail(reason) {
      failure ??= reason;
      begin(reason);
    },
    ended: new Promise<never>(() => undefined),
  };
}
