import { array, assert, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { splitWords } from "../../src/swap/split-words.ts";

describe("the words of a command", () => {
  it.each<[string, string[] | null]>([
    ["./swap.sh", ["./swap.sh"]],
    ["  sh   -c\techo ", ["sh", "-c", "echo"]],
    [`"C:/My Files/swap" 'a b' c\\ d`, ["C:/My Files/swap", "a b", "c d"]],
    [`a"b c"d'e f'`, ["ab cde f"]],
    [`"say \\"hi\\" \\n \\\\"`, ['say "hi" \\n \\']],
    [`'no \\ escape'`, ["no \\ escape"]],
    [`'' ""`, ["", ""]],
    ["$HOME *.sh ; rm", ["$HOME", "*.sh", ";", "rm"]],
    ["", []],
    [`"open`, null],
    ["it's", null],
    ["end\\", null],
  ])("of %j are %j", (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });

  it("come back as they were when each is quoted", () => {
    const quoted = (word: string) => `'${word.replaceAll("'", `'"'"'`)}'`;
    assert(
      property(array(string()), (words) => {
        expect(splitWords(words.map(quoted).join(" "))).toEqual(words);
      }),
    );
  });
});
