// The frame of a command that starts processes: whatever happens, they are ended.
import { Children } from "./children.ts";

/** Exit code 2 with `usage` when `read` throws or this is not Linux, 1 when the work fails, 130 after an interruption. */
export async function withChildren<Options>(
  read: () => Options,
  usage: string,
  work: (children: Children, options: Options) => Promise<void>,
): Promise<void> {
  let options: Options;
  try {
    options = read();
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
  if (process.platform !== "linux") {
    console.error("This reads CPU time and memory under /proc and so runs on Linux only.");
    process.exit(2);
  }
  const children = new Children();
  let interrupted = false;
  process.once("exit", () => children.killAll());
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      interrupted = true;
      void children.endAll().then(() => process.exit(130));
    });
  }
  try {
    await work(children, options);
  } catch (error) {
    // After an interruption whatever was running fails, which is no news.
    if (!interrupted) console.error((error as Error).message);
    process.exitCode = 1;
  } finally {
    await children.endAll();
  }
}
