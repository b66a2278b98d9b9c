import { parseConfig } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { agentConfigSchema } from "../../src/index.ts";

function problems(config: object): string[] {
  const result = parseConfig(agentConfigSchema, JSON.stringify(config), {});
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
}

let port = 9_000;
/** A model on a port of its own. */
const model = (name: string, more: object = {}) => ({ name, url: `http://127.0.0.1:${(port += 1)}`, ...more });
const own = (name: string, more: object = {}) => model(name, { command: "llama-server", ...more });
const script = { command: "./swap.sh" };
const able = { ...script, unload: true };
const ollama = { url: "http://127.0.0.1:11434", engine: "ollama" };

describe("who loads a model", () => {
  it("is its own command, or the swap script, which is then needed", () => {
    expect(problems({ models: [own("a"), own("b")] })).toEqual([]);
    expect(problems({ engines: [ollama] })).toEqual([]);
    expect(problems({ models: [own("a"), model("b"), model("c")] })).toEqual([
      "swap.command: is needed: a swap script loads what has no `command` of its own (b, c)",
    ]);
  });

  it("has a command that can be run", () => {
    expect(
      problems({ models: [own("a", { command: "sh 'x" }), own("b", { command: " " }), own("c", { command: "a\0b" })] }),
    ).toEqual([
      "models[0].command: a quote is not closed",
      "models[1].command: must not be empty",
      "models[2].command: must not hold the character NUL: no program takes it",
    ]);
  });

  it("has a port of its own, if it is a command", () => {
    const at = (url: string, more: object = {}) => ({ ...model("x", more), name: url, url });
    const command = { command: "llama-server" };
    const wrong = { swap: able, models: [at("http://127.0.0.1:1/a", command), at("http://localhost:1", command)] };
    expect(problems(wrong)).toEqual([
      "models[1].url: is already the address of models[0]: a `command` needs a port of its own",
    ]);
    const beside = { swap: able, models: [at("http://h:1/a"), at("http://h:1", command)] };
    expect(problems(beside)).toHaveLength(1);
    const onEngine = { models: [at(ollama.url, command)], engines: [ollama] };
    expect(problems(onEngine)).toEqual([
      "models[0].url: is already the address of engines[0]: a `command` needs a port of its own",
    ]);
    expect(problems({ swap: script, models: [at("http://h:1/a"), at("http://h:1/b")] })).toEqual([]);
  });

  it("is never the agent itself", () => {
    const at = (url: string) => ({ ...own("a"), url });
    const itself = "is the address on which this agent itself listens";
    for (const host of ["127.0.0.1", "0.0.0.0", "::"]) {
      const listen = { listen: { host, port: 8_401 }, open: true };
      expect(problems({ ...listen, models: [at("http://localhost:8401/x")] })).toEqual([`models[0].url: ${itself}`]);
      expect(problems({ ...listen, engines: [{ url: "http://127.0.0.1:8401" }] })).toEqual([
        `engines[0].url: ${itself}`,
      ]);
      expect(problems({ ...listen, models: [at("http://127.0.0.1:8402"), own("b")] })).toEqual([]);
    }
    const elsewhere = { listen: { host: "192.0.2.1", port: 8_401 }, open: true };
    expect(problems({ ...elsewhere, engines: [{ url: "http://127.0.0.1:8401" }] })).toEqual([]);
    expect(problems({ ...elsewhere, engines: [{ url: "http://192.0.2.1:8401" }] })).toHaveLength(1);
    expect(problems({ listen: { host: "no host" }, open: true, models: [own("a")] })).toEqual([]);
  });

  it("is attached once, if it is an engine", () => {
    expect(problems({ engines: [ollama, { url: "http://localhost:11434/" }] })).toEqual([
      "engines[1].url: is already the address of engines[0]",
    ]);
    expect(problems({ engines: [{ url: "http://h/ollama" }, { url: "http://h/other" }] })).toEqual([]);
  });
});

describe("names of an attached engine's models", () => {
  const says = (engine: object, models: object) => ({ ...engine, models });
  const other = { url: "http://h:2" };

  it("meet no configured name or alias, and none of the same engine", () => {
    const engines = [says(ollama, { CODE: {}, q: { aliases: ["fast"] }, r: { aliases: ["FAST", "A:latest"] } })];
    expect(problems({ swap: able, models: [model("a", { aliases: ["code"] })], engines })).toEqual([
      'engines[0].models.CODE: "CODE" already names models[0]',
      'engines[0].models.r.aliases[0]: "FAST" already names "q"',
      'engines[0].models.r.aliases[1]: "A:latest" already names models[0]',
    ]);
  });

  it("may be those of another engine's, which serves them in its absence", () => {
    expect(problems({ engines: [says(ollama, { q: { aliases: ["fast"] } }), says(other, { Q: {} })] })).toEqual([]);
  });
});

describe("a script that cannot unload", () => {
  it("cannot end a model's stay", () => {
    const models = [model("a", { ttl: "5m" }), model("b")];
    expect(problems({ swap: script, models })).toEqual([
      "models[0].ttl: needs `swap.unload: true`: the script must know how to unload",
    ]);
    expect(problems({ swap: able, models })).toEqual([]);
    expect(problems({ models: [own("a", { ttl: "5m" })] })).toEqual([]);
  });

  it("cannot make room in a memory budget", () => {
    const config = { models: [model("a", { memory: "1gb" })], memory: { budget: "4gb" } };
    expect(problems({ ...config, swap: script })).toEqual([
      "memory.budget: needs `swap.unload: true`: the script must be able to make room",
    ]);
    expect(problems({ ...config, swap: able })).toEqual([]);
  });

  it.each([
    ["a command's model", { models: [model("a"), own("b")] }],
    ["an engine's", { models: [model("a")], engines: [ollama] }],
  ])("cannot make room for %s", (_what, config) => {
    const found = problems({ ...config, swap: script });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^swap\.unload: must be true: one swappable model is loaded at a time/);
    expect(problems({ ...config, swap: able })).toEqual([]);
  });

  it("need not make room for an engine that never loads another model", () => {
    const tei = { url: "http://127.0.0.1:8080", engine: "tei" };
    expect(problems({ swap: script, models: [model("a")], engines: [tei] })).toEqual([]);
    expect(problems({ swap: script, models: [model("a")], engines: [tei, { url: "http://h:1" }] })).toHaveLength(1);
  });

  it("need not make room for a pinned command, nor out of a pinned model's place", () => {
    expect(problems({ swap: script, models: [model("a"), model("b"), own("c", { pinned: true })] })).toEqual([]);
    expect(problems({ swap: script, models: [model("a", { pinned: true }), own("c")], engines: [ollama] })).toEqual([]);
  });

  it("cannot keep a pinned model while it loads another", () => {
    for (const pinned of [true, false]) {
      const models = [model("a", { pinned: true }), model("b", { pinned })];
      const found = problems({ swap: script, models });
      expect(found).toHaveLength(pinned ? 2 : 1);
      expect(found[0]).toContain("models[0].pinned: needs `swap.unload: true`");
      expect(problems({ swap: able, models })).toEqual([]);
    }
    expect(problems({ swap: script, models: [model("a", { pinned: true })] })).toEqual([]);
  });
});

describe("a memory budget", () => {
  const memory = { budget: "24gb" };
  const sized = (name: string, gb: number, more: object = {}) => own(name, { memory: `${gb}gb`, ...more });

  it("must know what each model takes that the agent loads, and may ask an engine about its own", () => {
    const config = { swap: able, models: [model("a"), own("b")], engines: [{ ...ollama, models: { q: {} } }], memory };
    expect(problems(config)).toEqual([
      "models[0].memory: is needed: `memory.budget` must know what it takes",
      "models[1].memory: is needed: `memory.budget` must know what it takes",
    ]);
    expect(problems({ ...config, memory: { budget: 0 } })).toEqual([]);
  });

  it("holds the largest model", () => {
    const engines = [{ ...ollama, models: { q: { memory: "25gb" } } }];
    expect(problems({ models: [sized("a", 24), sized("b", 24.5)], engines, memory })).toEqual([
      "models[1].memory: is more than `memory.budget` (24 GB)",
      "engines[0].models.q.memory: is more than `memory.budget` (24 GB)",
    ]);
  });

  it("holds the largest model beside what is pinned", () => {
    const models = [sized("a", 8, { pinned: true }), sized("b", 4, { pinned: true }), sized("c", 12), sized("d", 13)];
    expect(problems({ models, memory })).toEqual([
      "models[3].memory: never fits: what is pinned (a, b) leaves 12 GB of 24 GB",
    ]);
    expect(problems({ models: [...models.slice(0, 3), sized("e", 13, { pinned: true })], memory })).toEqual([
      "memory.budget: is less than what is pinned takes together (a, b, e: 25 GB)",
    ]);
  });
});

describe("a pinned model", () => {
  it("has no ttl", () => {
    const engines = [{ ...ollama, ttl: "5m", models: { q: { pinned: true, ttl: "1m" }, r: { pinned: true } } }];
    expect(problems({ models: [own("a", { pinned: true, ttl: "5m" })], engines })).toEqual([
      "models[0].ttl: does not go with `pinned: true`: leave one of them out",
      "engines[0].models.q.ttl: does not go with `pinned: true`: leave one of them out",
    ]);
  });
});

describe("a file of thousands of models", () => {
  const many = (more: (i: number) => object) =>
    Array.from({ length: 4_000 }, (_, i) => ({ ...own(`m${i}`), ...more(i) }));
  const address = (i: number) => ({ url: `http://h${i}:9001` });

  it("is checked at once, and what is told of one does not name all others", () => {
    const started = performance.now();
    expect(problems({ models: many(address) })).toEqual([]);
    expect(problems({ models: many(() => ({ url: "http://h:9001" })) })).toHaveLength(3_999);
    expect(problems({ engines: many(address).map(({ url }) => ({ url })) })).toEqual([]);
    const sized = many((i) => ({ ...address(i), memory: i % 2 === 0 ? "1mb" : "10gb", pinned: i % 2 === 0 }));
    const [first = "", ...rest] = problems({ models: sized, memory: { budget: "10gb" } });
    expect(first).toBe(
      "models[1].memory: never fits: what is pinned (m0, m2, m4, m6, m8 and 1995 more) leaves 8 GB of 10 GB",
    );
    expect(rest).toHaveLength(1_999);
    const named = Object.fromEntries(Array.from({ length: 4_000 }, (_, i) => [`m${i}`, { pinned: true, ttl: "1s" }]));
    expect(problems({ engines: [{ ...ollama, models: named }] })).toHaveLength(4_000);
    // Comparing each with each other one takes several times as long.
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
