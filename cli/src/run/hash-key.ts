import { randomBytes } from "node:crypto";
import { hashedKey } from "@farmgate/shared";
import { CommandError } from "../exit-code.ts";
import type { Io } from "../io.ts";

/** Bytes of chance in a new key: nobody finds it by trying, not even one who knows its hash. */
const KEY_BYTES = 32;

/** Prints a new key and its hash, or only the hash of the key that standard input brings. */
export async function hashKey(isGiven: boolean, io: Io): Promise<void> {
  io.stdout.write(isGiven ? `${hashedKey(givenKey(await io.stdin()))}\n` : newKey());
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
