import { describe, expect, it } from "vitest";
import { NameClaims } from "../../src/attached/name-claims.ts";
import { agentConfigSchema } from "../../src/index.ts";
import { ModelBook, type ServedModel } from "../../src/served-model.ts";

const models = (...list: [name: string, ...aliases: string[]][]): ServedModel[] =>
  new ModelBook(
    agentConfigSchema.parse({
      swap: { command: "x" },
      models: list.map(([name, ...aliases]) => ({ name, aliases, url: "http://h:1" })),
    }),
  ).models.map((model) => model);

/** As an engine may list them: with names that meet, which no configuration can have. */
const listed = (...list: [name: string, ...aliases: string[]][]) => list.flatMap((one) => models(one));
const spelled = (kept: readonly ServedModel[]) => kept.map(({ name, aliases }) => [name, ...aliases].join(" "));

describe("the names of an agent's models", () => {
  it("belong to the configuration first, by name and alias, in any spelling", () => {
    const claims = new NameClaims(models(["a", "code"]));
    const { kept, clashes } = claims.claim("http://e:1", listed(["A:latest"], ["CODE"], ["b", "a", "c"]));
    expect(spelled(kept)).toEqual(["b c"]);
    expect(clashes.map(({ spelling }) => spelling)).toEqual(["A:latest", "CODE", "a"]);
  });

  it("belong to whoever has them until it lists them no more", () => {
    const claims = new NameClaims([]);
    claims.claim("http://e:1", listed(["a"]));
    expect(claims.claim("http://e:2", listed(["a"], ["b"])).clashes).toEqual([
      { spelling: "a", owner: "a model of http://e:1" },
    ]);
    // Its own names are no clash when it lists them again.
    expect(claims.claim("http://e:1", listed(["a"], ["b"])).kept).toHaveLength(1);
    claims.claim("http://e:1", listed(["c"]));
    expect(spelled(claims.claim("http://e:2", listed(["a"], ["b"])).kept)).toEqual(["a", "b"]);
  });

  it("go to models before aliases within one engine, and to the first of two alike", () => {
    const { kept } = new NameClaims([]).claim("http://e:1", listed(["a", "b"], ["b", "x"], ["B"], ["c", "x"]));
    expect(spelled(kept)).toEqual(["a", "b x", "c"]);
  });
});
