import { randomBytes } from "node:crypto";
import { hashedKey } from "@farmgate/shared";
import type { Command } from "commander";
import { CommandError } from "../exit-code.ts";
import type { Io } from "../io.ts";

/** Bytes of chance in a new key: nobody finds it by trying, not even one who knows its hash. */
const KEY_BYTES = 32;

export function addHashKeyCommand(program: Command, io: Io): void {
  program
    .command("hash-key")
    .description("Make a new key, and the hash by which a file has it without giving it away.")
    .option("--stdin", "hash the key that standard input brings, and print the hash alone")
    .action(async (options: { stdin?: boolean }) => {
      io.stdout.write(options.stdin === true ? `${hashedKey(givenKey(await io.stdin()))}\n` : newKey());
    });
}

function newKey(): string {
  const key = randomBytes(KEY_BYTES).toString("base64url");
  return `key, for the caller:  ${key}\nhash, for the file:   ${hashedKey(key)}\n`;
}

/** A line's end behind it is not part of it. */
function givenKey(text: string): string {
  const key = text.replace(/\r?\n$/, "");
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new CommandError("a key is one line of plain ASCII without blanks: it is sent in a header");
}
