import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Whether a process runs still. One that has ended and was only not yet collected (Z) does not. */
export async function isRunning(pid: number): Promise<boolean> {
  const state = await promisify(execFile)("ps", ["-o", "state=", "-p", String(pid)]).then(
    ({ stdout }) => stdout.trim(),
    () => "",
  );
  return !/^[ZX]?$/.test(state);
}
