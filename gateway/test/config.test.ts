import { hashedKey, parseConfig } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { gatewayConfigSchema } from "../src/index.ts";

function problemsOf(text: string): { path: string; message: string }[] {
  const parsed = parseConfig(gatewayConfigSchema, text, {});
  return parsed.ok ? [] : parsed.problems.map(({ path, message }) => ({ path, message }));
}

describe("a gateway file", () => {
  it("needs its workers and nothing else", () => {
    const parsed = parseConfig(gatewayConfigSchema, "workers: []", {});
    expect(parsed.ok && parsed.value).toEqual({
      listen: { host: "127.0.0.1", port: 8400 },
      processes: 1,
      health: { interval: 5_000, timeout: 2_000, unhealthyAfter: 3, healthyAfter: 1 },
      routing: { strategy: "least-connections", affinity: true, waitOrSwap: false },
      placement: {
        mode: "off",
        target: 2_000,
        share: 0.95,
        caution: 1,
        window: 15_000,
        elasticEvery: 500,
        stableEvery: 30_000,
        hold: 30_000,
        hot: 0.5,
        stateDir: null,
      },
      scheduling: "greedy",
      deadlines: { firstByte: 0, relax: false },
      workers: [],
      models: { aliases: {}, fallbacks: {}, keepWarm: {} },
      keys: [],
      open: false,
      discovery: { mdns: false },
      operators: [],
      hosts: [],
      limits: {
        body: 104_857_600,
        queue: 1_000,
        queueBytes: 1_073_741_824,
        queueWait: 300_000,
        requests: 10_000,
        connections: 10_000,
      },
      timeouts: { connect: 2_000, firstByte: 900_000, idle: 300_000, caller: 300_000 },
      retry: { attempts: 3, budget: 0.2 },
      embeddings: { batchWindow: 0, batchInputs: 64, batchBytes: 65_536 },
      drain: 300_000,
      sseComments: 10_000,
      loadingStatus: false,
      redis: null,
      telemetry: null,
      tls: null,
      cors: { origins: [] },
    });
    expect(problemsOf("listen: { port: 1 }")).toEqual([
      { path: "workers", message: "must be a list of workers (it may be empty)" },
    ]);
  });

  it("gives a worker its defaults, and no weight where none is set", () => {
    const parsed = parseConfig(gatewayConfigSchema, "workers: [{ name: a, url: 'http://h:1/' }]", {});
    expect(parsed.ok && parsed.value.workers[0]).toEqual({
      name: "a",
      url: "http://h:1",
      ca: null,
      engine: "auto",
      weight: null,
      models: { allow: ["*"], deny: [] },
      maxConcurrent: 0,
      apiKey: null,
      drainOnAbort: { bytes: 0, time: 0 },
    });
  });

  const bad: [string, string, string, RegExp][] = [
    ["an unknown key", "workers: []\nnope: 1", "nope", /unknown key/],
    [
      "two workers of one name",
      "workers: [{name: a, url: 'http://h'}, {name: a, url: 'http://i'}]",
      "workers[1].name",
      /already named/,
    ],
    ["no keys beyond this machine", "workers: []\nlisten: {host: 0.0.0.0}", "listen.host", /no keys are set/],
    [
      "a long wait for other embedding calls",
      "workers: []\nembeddings: {batchWindow: 2s}",
      "embeddings.batchWindow",
      /at most 1s/,
    ],
    ["a body of no bytes", "workers: []\nlimits: {body: 0}", "limits.body", /more than 0/],
    [
      "a worker's key that no header can carry",
      'workers: [{name: a, url: "http://h", apiKey: "secret\\n"}]',
      "workers[0].apiKey",
      /line ends/,
    ],
    ["two keys of one value", "workers: []\nkeys: [{name: a, key: k}, {name: b, key: k}]", "keys[1].key", /same value/],
    [
      "a key given and the same one hashed",
      `workers: []\nkeys: [{name: a, key: k}, {name: b, key: "${hashedKey("k")}"}]`,
      "keys[1].key",
      /same value/,
    ],
    ["half a hash", 'workers: []\nkeys: [{name: a, key: "sha256:abc"}]', "keys[0].key", /64 hex digits/],
    ["a name for an address", "workers: []\noperators: [prometheus.lan]", "operators[0]", /an address such as/],
    ["a URL for a name", 'workers: []\nhosts: ["https://farm.example"]', "hosts[0]", /without scheme and port/],
    [
      "two keys of one name",
      "workers: []\nkeys: [{name: a, key: k}, {name: a, key: l}]",
      "keys[1].name",
      /already named/,
    ],
    ["an alias of an alias", "workers: []\nmodels: {aliases: {a: B, b: c}}", "models.aliases.a", /alias itself/],
    ["an alias of itself", "workers: []\nmodels: {aliases: {a: A}}", "models.aliases.a", /names itself/],
    [
      "two spellings of one alias",
      "workers: []\nmodels: {aliases: {a: x, A: y}}",
      "models.aliases.A",
      /same as another/,
    ],
    ["a fallback to itself", "workers: []\nmodels: {fallbacks: {m: [n, M]}}", "models.fallbacks.m[1]", /itself/],
    ["a strategy of its own", "workers: []\nrouting: {strategy: best}", "routing.strategy", /./],
    ["no interval", "workers: []\nhealth: {interval: 0}", "health.interval", /longer than 0/],
    ["no engine of ours", "workers: [{name: a, url: 'http://h', engine: gpt}]", "workers[0].engine", /./],
    ["redis of another kind", "workers: []\nredis: http://h", "redis.url", /must be redis:/],
    ["redis without a URL", "workers: []\nredis: {farm: a}", "redis.url", /./],
    ["a farm with a brace", "workers: []\nredis: {url: 'redis://h', farm: '{a}'}", "redis.farm", /letters, digits/],
    ["tls without a key", "workers: []\ntls: {cert: a}", "tls.key", /missing|required|must/],
    [
      "one model kept warm by two names",
      "workers: []\nmodels: {aliases: {fast: M}, keepWarm: {m: 1, fast: 2}}",
      "models.keepWarm.fast",
      /same model as "m"/,
    ],
    ["a placement of its own", "workers: []\nplacement: on", "placement.mode", /one of off, advise, auto/],
    ["a placement that is no word", "workers: []\nplacement: false", "placement.mode", /one of off, advise, auto/],
    ["a share above all", "workers: []\nplacement: {share: 95}", "placement.share", /above 0, and 1 at most/],
    ["a caution below none", "workers: []\nplacement: {caution: -1}", "placement.caution", /must not be below 0/],
    ["nothing that is hot", "workers: []\nplacement: {hot: 0}", "placement.hot", /must be above 0/],
    [
      "packing more often than planning",
      "workers: []\nplacement: {elasticEvery: 1m}",
      "placement.stableEvery",
      /not be shorter than elasticEvery/,
    ],
    ["a deadline of no time", "workers: []\ndeadlines: {firstByte: soon}", "deadlines.firstByte", /a duration such as/],
    ["less than one warm copy", "workers: []\nmodels: {keepWarm: {m: 0}}", "models.keepWarm.m", /at least 1/],
  ];
  it.each(bad)("with %s is refused", (_what, text, path, message) => {
    const problems = problemsOf(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ path, message: expect.stringMatching(message) });
  });

  it("with several faults tells them all at once: rules between keys do not wait for the rest to be mended", () => {
    const found = problemsOf(`
listen: { host: 0.0.0.0 }
drain: soon
nope: 1
workers: [{ name: a, url: 'http://h', weigth: 2 }, { name: a, url: 'http://i' }]
models: { aliases: { a: A } }
`);
    expect(found.map(({ path }) => path)).toEqual([
      "listen.host",
      "drain",
      "nope",
      "workers[0].weigth",
      "workers[1].name",
      "models.aliases.a",
    ]);
  });

  it("is not judged by a rule whose own keys are malformed", () => {
    expect(problemsOf("workers: 7\nlisten: {host: 0.0.0.0}\nkeys: [{name: a, key: ''}]").map((p) => p.path)).toEqual([
      "workers",
      "keys[0].key",
    ]);
    expect(problemsOf("7")).toHaveLength(1);
  });

  it.each([
    ["127.0.0.1", true],
    ["127.0.0.2", true],
    ["localhost", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["0.0.0.0", false],
    ["::", false],
    ["192.0.2.5", false],
    ["::ffff:192.0.2.5", false],
    ["box.lan", false],
  ])("on %s may do without keys: %s", (host, may) => {
    const found = problemsOf(`workers: []\nlisten: {host: "${host}"}`);
    expect(found.map(({ path }) => path)).toEqual(may ? [] : ["listen.host"]);
  });

  it("gives a key for agents no model unless it names some", () => {
    const text =
      "workers: []\nkeys: [{ name: a, key: k, agents: true }, { name: b, key: l, agents: true, models: [m] }, { name: c, key: n }]";
    const parsed = parseConfig(gatewayConfigSchema, text, {});
    expect(parsed.ok && parsed.value.keys.map(({ agents, models }) => [agents, models])).toEqual([
      [true, []],
      [true, ["m"]],
      [false, ["*"]],
    ]);
  });

  it("announces no listener that nobody else reaches", () => {
    const text = "workers: []\ndiscovery: { mdns: true }\n";
    expect(problemsOf(text)[0]?.path).toBe("discovery.mdns");
    expect(problemsOf(`${text}listen: { host: 0.0.0.0 }\nopen: true\n`)).toEqual([]);
  });

  it("may serve everyone when it says so", () => {
    expect(problemsOf("workers: []\nlisten: {host: 0.0.0.0}\nopen: true")).toEqual([]);
    expect(problemsOf("workers: []\nlisten: {host: 0.0.0.0}\nkeys: [{name: a, key: k}]")).toEqual([]);
  });
});
