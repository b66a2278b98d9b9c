import { describe, expect, it } from "vitest";
import { agentConfigSchema } from "../src/index.ts";
import { ModelBook } from "../src/served-model.ts";

function bookOf(...urls: string[]): ModelBook {
  const models = urls.map((url, index) => ({ name: `m${index}`, url, aliases: [`alias${index}`] }));
  return new ModelBook(agentConfigSchema.parse({ swap: { command: "x" }, models }));
}

describe("a book of models", () => {
  it("finds a model by name or alias, in any case and with or without :latest", () => {
    const book = bookOf("http://h:1");
    for (const spelling of ["m0", "M0", "alias0", "ALIAS0:latest"]) expect(book.find(spelling)?.name).toBe("m0");
    expect(book.find("m1")).toBeUndefined();
  });

  it.each<[string, string, boolean]>([
    ["http://127.0.0.1:9001", "http://127.0.0.1:9001/", true],
    ["http://127.0.0.1:9001", "http://localhost:9001", true],
    ["http://[::1]:9001", "http://localhost:9001", true],
    ["http://127.0.0.1:9001", "http://127.0.0.1:9002", false],
    ["http://127.0.0.1:9001/a", "http://localhost:9001/b", false],
    ["http://box:9001", "http://127.0.0.1:9001", false],
  ])("knows whether models share an address: %s and %s: %s", (one, other, shared) => {
    expect(bookOf(one, other).models.map((model) => model.sharesUrl)).toEqual([shared, shared]);
  });
});
