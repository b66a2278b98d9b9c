import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { runProgram } from "../../src/program.ts";
import { fakeIo } from "../fake-io.ts";

const hashOf = (key: string) => `sha256:${createHash("sha256").update(key).digest("hex")}`;

it("makes a new key each time, with its hash", async () => {
  const made = await Promise.all(
    [1, 2].map(async () => {
      const io = fakeIo(["hash-key"]);
      expect(await runProgram(io)).toBe(0);
      const [, key = "", hash] = /^key, .*: {2}(\S{43})\nhash, .*: {3}(\S+)\n$/.exec(io.printed.stdout) ?? [];
      expect(hash).toBe(hashOf(key));
      return key;
    }),
  );
  expect(new Set(made).size).toBe(2);
});

it.each(["my-key", "my-key\n", "my-key\r\n"])(
  "hashes %j as standard input brings it, and does not repeat it",
  async (text) => {
    const io = fakeIo(["hash-key", "--stdin"], {}, text);
    expect(await runProgram(io)).toBe(0);
    expect(io.printed.stdout).toBe(`${hashOf("my-key")}\n`);
  },
);

it.each(["", "\n", "two words", "two\nlines", "ключ"])("refuses %j, which no header can carry", async (text) => {
  const io = fakeIo(["hash-key", "--stdin"], {}, text);
  expect(await runProgram(io)).toBe(1);
  expect(io.printed.stdout).toBe("");
  expect(io.printed.stderr).toContain("plain ASCII");
});
