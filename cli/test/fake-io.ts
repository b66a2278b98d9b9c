import { seededRandom } from "@farmgate/shared";
import { createSystemClock } from "@farmgate/wire";
import type { Io } from "../src/io.ts";

export interface FakeIo extends Io {
  printed: { stdout: string; stderr: string };
}

/** A process that only remembers what is printed. */
export function fakeIo(argv: readonly string[], env: Record<string, string> = {}, stdin = ""): FakeIo {
  const printed = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr") => ({
    write: (text: string) => {
      printed[name] += text;
    },
    columns: () => null,
    gone: () => false,
  });
  return {
    argv,
    env,
    stdout: output("stdout"),
    stderr: output("stderr"),
    stdin: async () => stdin,
    clock: createSystemClock(),
    random: seededRandom(1),
    version: "9.9.9",
    demoFile: "demo/farm.yaml",
    memory: () => 0,
    self: ["node", "main.js"],
    onTerminal: false,
    onSignal: () => undefined,
    exit: () => undefined,
    whenParentLeaves: () => undefined,
    printed,
  };
}
