import { describe, expect, it } from "vitest";
import { agentConfigSchema } from "../src/index.ts";
import { ModelBook, type ServedModel } from "../src/served-model.ts";

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

  it("takes an engine's models in after the configured ones, and out again", () => {
    const url = "http://h:2";
    const swap = { command: "x", unload: true };
    const config = { swap, models: [{ name: "m0", url: "http://h:1" }], engines: [{ url }] };
    const book = new ModelBook(agentConfigSchema.parse(config));
    const [other] = bookOf("http://h:2", "http://h:3").models.slice(1);
    const listed = (name: string, ...aliases: string[]) => ({ ...other, name, aliases }) as ServedModel;
    book.replaceEngine(url, [listed("new", "m0", "alias"), listed("M0")]);
    expect(book.models.map(({ name }) => name)).toEqual(["m0", "new", "M0"]);
    expect(book.find("alias:latest")?.name).toBe("new");
    expect(book.named("new")?.name).toBe("new");
    expect(book.named("alias")).toBeUndefined();
    // Whoever was first keeps a name.
    expect(book.find("m0")?.url).toBe("http://h:1");
    book.replaceEngine(url, []);
    expect(book.models).toHaveLength(1);
    expect(book.find("alias")).toBeUndefined();
  });

  it("knows how each configured model leaves memory", () => {
    const parse = (unload: boolean) =>
      new ModelBook(
        agentConfigSchema.parse({
          swap: { command: "x", unload },
          models: [
            { name: "a", url: "http://h:1" },
            { name: "b", url: "http://h:2", command: "serve b", pinned: true },
          ],
        }),
      ).models.map(({ leaves }) => leaves);
    expect(parse(false)).toEqual(["replaced", "call"]);
    expect(parse(true)).toEqual(["call", "call"]);
  });
});
