import type { Clock, Environment, Random } from "@farmgate/shared";

/** A stream to a person, or to whatever reads what this program prints. */
export interface Output {
  write(text: string): void;
  /** Columns of the terminal; null when it is none. */
  columns(): number | null;
  /** True once the reader has gone (`farmgate status --watch | head`). */
  gone(): boolean;
}

/** Everything that a command takes from the process it runs in; `main.ts` alone makes the real one. */
export interface Io {
  /** Without the interpreter and the script. */
  argv: readonly string[];
  env: Environment;
  stdout: Output;
  stderr: Output;
  /** All that is sent to this process, up to its end. */
  stdin(): Promise<string>;
  clock: Clock;
  random: Random;
  version: string;
  /** Bytes of memory that this process holds. */
  memory(): number;
  /** The farm file of `up --demo`. */
  demoFile: string;
  /** How this very program is started once more: `[executable, ...arguments]`. */
  self: readonly [string, ...string[]];
  /** True where a person started this from a terminal, which may be closed. */
  onTerminal: boolean;
  /** Calls `fn` for every one of these signals, which then no longer end the process by themselves. */
  onSignal(fn: (signal: "SIGTERM" | "SIGINT" | "SIGHUP") => void): void;
  /** Ends the process at once. */
  exit(code: number): void;
  /** Calls `fn` when the process that started this one has gone; never for a program started by hand. */
  whenParentLeaves(fn: () => void): void;
}
