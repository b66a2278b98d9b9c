import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { checkDocument, type Environment, parseConfig, readDocument } from "../../src/config/parse.ts";
import { duration, httpUrl, wholeNumber } from "../../src/config/pieces.ts";

const schema = z.strictObject({
  port: wholeNumber(1, 65_535).default(80),
  wait: duration.default(0),
  workers: z
    .array(z.strictObject({ name: z.string(), url: httpUrl, tags: z.record(z.string(), z.string()).default({}) }))
    .default([]),
});

function problems(text: string, env: Environment = {}): string[] {
  const parsed = parseConfig(schema, text, env);
  if (parsed.ok) throw new Error(`taken: ${JSON.stringify(parsed.value)}`);
  return parsed.problems.map(({ path, line, message }) => `${line}: ${path}: ${message}`);
}

function value(text: string, env: Environment = {}): z.output<typeof schema> {
  const parsed = parseConfig(schema, text, env);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
}

describe("a file with faults", () => {
  it("tells every one, each with its path and line, in the order of the lines", () => {
    const text = [
      "workers:",
      "  - { name: a, url: ftp://a }",
      "  - name: 7",
      "    url: http://b",
      "    extra: 1",
      "wait: soon",
      "prot: 8",
    ];
    expect(problems(text.join("\n"))).toEqual([
      "2: workers[0].url: must be an http:// or https:// address",
      "3: workers[1].name: must be a text",
      "5: workers[1].extra: unknown key",
      "6: wait: must be a duration such as 500ms, 5s or 10m",
      "7: prot: unknown key; did you mean port?",
    ]);
  });

  it("points at the parent where something is missing", () => {
    expect(problems("port: 1\nworkers:\n  - name: a\n")).toEqual(["3: workers[0].url: is missing"]);
  });

  it("says what a value must be, and which key may be meant", () => {
    const engine = z.strictObject({
      kind: z.enum(["chat", "embedding"]).optional(),
      models: z.array(z.string()),
      on: z.boolean().optional(),
    });
    const told = (text: string) => {
      const parsed = parseConfig(engine, text, {});
      return parsed.ok ? [] : parsed.problems.map(({ path, message }) => `${path}: ${message}`);
    };
    expect(told("on: true")).toEqual(["models: is missing"]);
    expect(told("[a]")).toEqual([": must be keys with values"]);
    expect(told("kind: chatty\nmodels: coder\non: yes")).toEqual([
      "kind: must be one of chat, embedding",
      "models: must be a list",
      "on: must be true or false",
    ]);
    expect(told("models: []\nmodel: a\nzebra: b\nkinds: c")).toEqual([
      "model: unknown key; did you mean models?",
      "zebra: unknown key",
      "kinds: unknown key; did you mean kind?",
    ]);
  });

  it("tells the line of broken YAML and of a repeated key", () => {
    expect(problems("port: 1\nwait: [")).toEqual([expect.stringMatching(/^2: : not valid YAML: /)]);
    expect(problems("port: 1\nwait: 5s\nport: 2")).toEqual([expect.stringMatching(/^3: : not valid YAML: .*unique/)]);
    expect(problems("port: 1\n---\nport: 2")).toEqual([expect.stringMatching(/not valid YAML: .*multiple documents/)]);
  });

  it("tells keys that come twice anywhere, also as number and as text", () => {
    expect(problems("workers:\n - name: a\n   name: b\n   tags: { 1: x, '1': y }\n")).toEqual([
      expect.stringMatching(/^3: .*unique/),
      expect.stringMatching(/^4: .*unique/),
    ]);
  });

  it("is read at once, however many keys it has and however many are wrong", () => {
    const keys = Array.from({ length: 20_000 }, (_, i) => `zq${i}: 1`);
    const started = performance.now();
    const found = problems(keys.join("\n"));
    expect(found).toHaveLength(20_000);
    expect(found.at(-1)).toBe("20000: zq19999: unknown key");
    // Searching for each one among all of them takes several times as long.
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it("is refused when it is no map at all", () => {
    expect(problems("- 1\n- 2")).toHaveLength(1);
    expect(problems("just words")).toHaveLength(1);
  });

  it("does not take `__proto__` for a known key", () => {
    expect(problems("__proto__: { port: 5 }")).toEqual(["1: __proto__: unknown key"]);
  });
});

describe("the environment", () => {
  it("is put into strings, also inside them and more than once", () => {
    const text = "port: ${PORT}\nworkers: [{ name: '${A}-${B}-${A}', url: 'http://${HOST}:1' }]";
    const parsed = parseConfig(schema, text, { PORT: "81", A: "x", B: "", HOST: "h" });
    expect(parsed).toMatchObject({
      ok: true,
      value: { port: 81, workers: [{ name: "x--x", url: "http://h:1" }] },
      env: [
        { name: "PORT", path: "port" },
        { name: "A", path: "workers[0].name" },
        { name: "B", path: "workers[0].name" },
        { name: "A", path: "workers[0].name" },
        { name: "HOST", path: "workers[0].url" },
      ],
    });
  });

  it("that lacks a variable is told once for each place, and not as a bad value too", () => {
    const text = "port: ${PORT}\nworkers:\n  - { name: a, url: '${URL}' }";
    expect(problems(text)).toEqual([
      "1: port: environment variable PORT is not set",
      "3: workers[0].url: environment variable URL is not set",
    ]);
  });

  it("is not looked for in keys, comments, or in what a variable holds", () => {
    const text = "# ${COMMENT}\nworkers: [{ name: '${A}', url: http://h, tags: { '${KEY}': '${A}' } }]";
    expect(value(text, { A: "${B}" }).workers[0]).toMatchObject({ name: "${B}", tags: { "${KEY}": "${B}" } });
  });

  it("leaves other dollar signs alone", () => {
    expect(value("workers: [{ name: '$A ${ ${1} $${A', url: http://h }]").workers[0]?.name).toBe("$A ${ ${1} $${A");
  });

  it("cannot bring in structure", () => {
    expect(value("workers: [{ name: '${A}', url: http://h }]", { A: "x, url: y }" }).workers[0]?.name).toBe(
      "x, url: y }",
    );
  });
});

describe("a strange file", () => {
  it.each([
    ["empty", ""],
    ["only a comment", "# nothing"],
    ["an empty document", "---\n"],
    ["null", "null"],
  ])("that is %s means all defaults", (_, text) => {
    expect(value(text)).toEqual({ port: 80, wait: 0, workers: [] });
  });

  it("with aliases that multiply is refused, not unfolded", () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) =>
        `a${i}: &a${i} [${
          i === 0
            ? "x"
            : Array(9)
                .fill(`*a${i - 1}`)
                .join(", ")
        }]`,
    );
    expect(problems(levels.join("\n"))).toEqual([expect.stringMatching(/not usable YAML: .*alias/i)]);
  });

  it("with an alias inside its own anchor, or to none, is refused", () => {
    expect(problems("workers: &a [*a]").length).toBeGreaterThan(0);
    expect(problems("workers: *nowhere").length).toBeGreaterThan(0);
  });

  it("may use a plain alias", () => {
    expect(value("workers: [{ name: &n box, url: http://h, tags: { a: *n } }]").workers[0]?.tags).toEqual({ a: "box" });
  });

  it("nested without end is refused", () => {
    expect(problems(`workers: ${"[".repeat(50_000)}`).length).toBeGreaterThan(0);
    expect(problems(`workers: ${"[".repeat(20_000)}${"]".repeat(20_000)}`).length).toBeGreaterThan(0);
  });

  it("never makes the reader throw", () => {
    const soup = fc.string({ unit: fc.constantFrom(..."abport:w-[]{},&*!|>'\"#%@`$ \n".split("")), maxLength: 60 });
    fc.assert(
      fc.property(soup, (text) => {
        expect(typeof parseConfig(schema, text, {}).ok).toBe("boolean");
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a part of a document", () => {
  const farm = readDocument("gateway:\n  port: 5\nagents:\n  - port: 0\n  - prot: 1\n", {});

  it("is checked by its own schema, with paths and lines of the whole file", () => {
    expect(checkDocument(farm, schema, ["gateway"])).toMatchObject({ ok: true, value: { port: 5 } });
    expect(checkDocument(farm, schema, ["agents", 1])).toEqual({
      ok: false,
      problems: [{ path: "agents[1].prot", line: 5, message: "unknown key; did you mean port?" }],
    });
  });

  it("that is missing means all defaults, and one that is no map is refused", () => {
    expect(checkDocument(farm, schema, ["other"])).toMatchObject({ ok: true, value: { port: 80 } });
    const flat = readDocument("gateway: yes please", {});
    expect(checkDocument(flat, schema, ["gateway"]).ok).toBe(false);
    expect(checkDocument(flat, schema, ["gateway", "deeper"]).ok).toBe(false);
  });
});
