import { CommandError } from "./exit-code.ts";

/** Starts a program that listens; an address that cannot be had becomes a message that says `where` to change it. */
export async function listening<T>(
  start: () => Promise<T>,
  listen: { host: string; port: number },
  where: string,
): Promise<T> {
  // What a start waits for may be a timer alone, and those do not keep the process up.
  const keepUp = setInterval(() => {}, 60_000);
  try {
    return await start();
  } catch (error) {
    const message = addressProblem(error, listen, where);
    throw message === null ? error : new CommandError(message);
  } finally {
    clearInterval(keepUp);
  }
}

/** What is wrong with an address, by the system's error code; null when the error is about something else. */
export function addressProblem(error: unknown, listen: { host: string; port: number }, where: string): string | null {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  switch (code) {
    case "EADDRINUSE":
      return `port ${listen.port} on ${listen.host} is in use by another program; change ${where}`;
    case "EACCES":
      return `port ${listen.port} on ${listen.host} is not allowed for this user; change ${where}`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `${listen.host} is no address of this machine; change ${where.replace(/port\b/, "host")}`;
    default:
      return null;
  }
}
