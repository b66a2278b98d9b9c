/** Contract section 1. */
export const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

/** What a command ends with when it cannot do its work; the message is for the person who typed it. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failure) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The command or a file does not fit: exit code 2. */
export function usageError(message: string): CommandError {
  return new CommandError(message, EXIT.usage);
}
