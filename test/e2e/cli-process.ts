import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Cleanup, type FarmgateProcess, runFarmgate } from "../harness/farmgate-process.ts";
import { until } from "../harness/until.ts";

/** As if typed at a prompt: what is printed does not depend on npm having started the tests. */
const PLAIN = { npm_lifecycle_event: undefined };

/** Starts `farmgate ARGS` in a folder; it is ended by `cleanup`. */
export function start(cleanup: Cleanup, args: readonly string[], cwd?: string): FarmgateProcess {
  const options = cwd === undefined ? { env: PLAIN } : { cwd, env: PLAIN };
  return cleanup.add(runFarmgate(args, options), (program) => program.stop());
}

/** Runs `farmgate ARGS` to its end. */
export async function run(args: readonly string[]) {
  const program = runFarmgate(args, { env: PLAIN });
  const code = await program.ended;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}

/** Writes a file into a folder of its own, and gives its path. */
export async function written(cleanup: Cleanup, name: string, text: string): Promise<string> {
  const file = join(await cleanup.folder(), name);
  await writeFile(file, text);
  return file;
}

/** Resolves once standard output holds the text; rejects when the program ends before. */
export async function told(program: FarmgateProcess, text: string): Promise<void> {
  await until(
    () => {
      if (program.stdout().includes(text)) return true;
      if (program.child.exitCode !== null) throw new Error(`ended without "${text}":\n${program.output()}`);
      return false;
    },
    `"${text}" on standard output`,
    40_000,
  );
}

export interface LogLine {
  name: string;
  msg: string;
  pid: number;
  /** ISO 8601. */
  time: string;
}

/** The lines of its log and of its children's, in order. */
export function logLines(program: FarmgateProcess): LogLine[] {
  const lines = program.stdout().split("\n");
  return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as LogLine);
}

/** True when something answers there. */
export function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}
