import type { Command } from "commander";
import type { Io } from "../io.ts";

export function addHashKeyCommand(program: Command, io: Io): void {
  program
    .command("hash-key")
    .description("Make a new key, and the hash by which a file has it without giving it away.")
    .option("--stdin", "hash the key that standard input brings, and print the hash alone")
    .action(async (options: { stdin?: boolean }) => {
      const { hashKey } = await import("../run/hash-key.ts");
      await hashKey(options.stdin === true, io);
    });
}
