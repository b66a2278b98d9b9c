import { hashedKey, parseConfig } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { agentConfigSchema } from "../src/index.ts";

const check = (text: string) => parseConfig(agentConfigSchema, text, {});

function problems(text: string): string[] {
  const result = check(text);
  return result.ok ? [] : result.problems.map(({ line, path, message }) => `${line} ${path}: ${message}`);
}

const SMALLEST = `
swap: { command: ./swap.sh }
models:
  - { name: a, url: "http://127.0.0.1:9001" }
`;

describe("an agent's configuration", () => {
  it("gives every key its default, in milliseconds and bytes", () => {
    const result = check(SMALLEST);
    expect(result).toMatchObject({
      ok: true,
      value: {
        name: "agent",
        listen: { host: "127.0.0.1", port: 8401 },
        swap: { timeout: 180_000, poll: 1_000, failureLimit: 3, failureReset: 300_000, status: false, unload: false },
        queue: { maxBatch: 64, maxWait: 60_000, minResident: 0, maxDepth: 1_000 },
        models: [{ name: "a", aliases: [], slots: 4, ready: "health", health: "/health", memory: 0, ttl: 0 }],
        memory: { budget: 0 },
        keys: [],
        operators: [],
        hosts: [],
        drain: 300_000,
      },
    });
  });

  it("takes the contract's own example but for what comes later", () => {
    const text = `
name: gpu-box
listen: { host: 127.0.0.1, port: 8401 }
swap: { command: ./swap.sh, timeout: 180s, poll: 1s, failureLimit: 3, failureReset: 5m, status: false, unload: false }
queue: { maxBatch: 64, maxWait: 60s, minResident: 0s, maxDepth: 1000 }
models:
  - name: coder
    url: http://127.0.0.1:9001
    model: qwen3-coder-30b
    aliases: [code]
    slots: 4
    ready: health
    health: /health
    timeout: 5m
    memory: 20gb
    command: "llama-server -m coder.gguf --port 9001"
    pinned: false
    ttl: 0s
    preload: false
engines:
  - { url: http://127.0.0.1:11434, engine: ollama }
memory: { budget: 0 }
keys: []
drain: 5m
`;
    expect(problems(text)).toEqual([]);
  });

  it("refuses names that meet, whatever their case or tag", () => {
    const text = `
swap: { command: ./swap.sh }
models:
  - { name: a, url: "http://h:1", aliases: [fast] }
  - { name: "A:latest", url: "http://h:2" }
  - { name: c, url: "http://h:3", aliases: [FAST] }
`;
    expect(problems(text)).toEqual([
      '5 models[1].name: "A:latest" already names models[0]',
      '6 models[2].aliases[0]: "FAST" already names models[0]',
    ]);
  });

  it("refuses models named like the script's own orders, unless the script never hears of them", () => {
    const models = (more: string) => `
swap: { command: ./swap.sh }
models: [{ name: Status, url: "http://h:1"${more} }, { name: unload, url: "http://h:2"${more} }]
`;
    expect(problems(models(""))).toHaveLength(2);
    expect(problems(models(""))[0]).toContain("models[0].name: a model cannot be named Status");
    expect(problems(models(", command: x"))).toEqual([]);
  });

  it.each([
    ["none", "", "1 swap.command: is needed: a swap script loads what has no `command` of its own \\(a\\)"],
    ["an open quote", `swap: { command: 'sh "x' }`, "1 swap.command: a quote is not closed"],
    ["blanks", `swap: { command: '  ' }`, "1 swap.command: must not be empty"],
  ])("refuses a swap command that is %s", (_what, swap, message) => {
    const found = problems(`${swap}\nmodels: [{ name: a, url: "http://h:1" }]`);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(new RegExp(`^\\d+ ${message.slice(2)}`));
  });

  it("wants keys for a listener that others reach, or `open: true`", () => {
    const listen = "listen: { host: 0.0.0.0 }\n";
    expect(problems(listen)[0]).toContain("keys: needed to listen on 0.0.0.0");
    expect(problems(`${listen}open: true`)).toEqual([]);
    expect(problems(`${listen}keys: [{ name: gateway, key: secret }]`)).toEqual([]);
    for (const host of ["::1", "localhost", "127.0.0.9", "::ffff:127.0.0.1"]) {
      expect(problems(`${SMALLEST}listen: { host: "${host}" }`)).toEqual([]);
    }
    for (const host of ["::", "192.0.2.5", "::ffff:192.0.2.5", "box.lan"]) {
      expect(problems(`${SMALLEST}listen: { host: "${host}" }`)[0]).toContain("keys: needed to listen");
    }
  });

  it("tells keys apart by their values, and takes addresses for operators and names for hosts", () => {
    const keys = `keys: [{ name: a, key: k }, { name: b, key: "${hashedKey("k")}" }]\n`;
    expect(problems(`${SMALLEST}${keys}`)).toEqual(["5 keys[1].key: has the same value as another key"]);
    const found = problems(`${SMALLEST}operators: [box.lan]\nhosts: ["a:1"]\n`);
    expect(found.map((line) => line.split(": ")[0])).toEqual(["5 operators[0]", "6 hosts[0]"]);
  });

  it("tells every fault at once: rules between keys do not wait for the rest to be mended", () => {
    const text = `
listen: { host: 0.0.0.0 }
drain: soon
models: [{ name: a, url: "http://h:1", slot: 1 }, { name: a, url: "http://h:2" }]
`;
    expect(problems(text).map((line) => line.split(": ")[0])).toEqual([
      "2 swap.command",
      "2 keys",
      "3 drain",
      "4 models[0].slot",
      "4 models[1].name",
    ]);
  });

  it("takes one gateway, a list of them, or one to look for", () => {
    const gatewaysOf = (text: string) => {
      const parsed = parseConfig(agentConfigSchema, text, {});
      return parsed.ok ? parsed.value.gateway.map(({ url, discover }) => (discover ? "any" : url)) : null;
    };
    expect(gatewaysOf(SMALLEST)).toEqual([]);
    expect(gatewaysOf(`${SMALLEST}gateway: { url: "http://h:1/" }`)).toEqual(["http://h:1"]);
    const list = '[{ url: "http://h:1", key: k }, { discover: true, advertise: "https://a:2", weight: 2 }]';
    expect(gatewaysOf(`${SMALLEST}gateway: ${list}`)).toEqual(["http://h:1", "any"]);
  });

  it.each([
    ["gateway: {}", "5 gateway: needs a `url`, or `discover: true` to look for one"],
    ['gateway: { url: "http://h:1", discover: true }', "5 gateway: needs a `url`, or `discover: true` to look for one"],
    ["gateway: [{ url: ftp://h }]", "5 gateway[0].url: must be an http:// or https:// address"],
    ["gateway: { urls: x, discover: true }", "5 gateway.urls: unknown key; did you mean url?"],
    ["gateway: 5", "5 gateway: must be keys with values"],
  ])("refuses %s", (text, problem) => {
    expect(problems(SMALLEST + text)).toEqual([problem]);
  });

  it("needs no keys beside the one that it makes for the gateways it registers with", () => {
    expect(problems('listen: { host: 0.0.0.0 }\nswap: { command: x }\ngateway: { url: "http://h:1" }')).toEqual([]);
  });

  it("refuses a name that the swap script would take for an option, but for a model with its own command", () => {
    const models = `- { name: "--help", url: "http://h:1" }\n- { name: "-c", url: "http://h:2", command: x }\n`;
    expect(problems(`swap: { command: x, unload: true }\nmodels:\n${models}`)).toEqual([
      "3 models[0].name: must not start with a dash: the swap script would take it for an option",
    ]);
  });

  it("refuses waits of no length", () => {
    const text = `swap: { command: x, timeout: 0, poll: 0s }\nmodels: [{ name: a, url: "http://h:1", timeout: 0 }]`;
    expect(problems(text)).toEqual([
      "1 swap.timeout: must be longer than 0",
      "1 swap.poll: must be longer than 0",
      "2 models[0].timeout: must be longer than 0",
    ]);
  });

  it("refuses unknown keys, at every level", () => {
    expect(problems("swop: 1\nqueue: { maxbatch: 1 }")).toEqual([
      "1 swop: unknown key; did you mean swap?",
      "2 queue.maxbatch: unknown key; did you mean maxBatch?",
    ]);
  });
});
