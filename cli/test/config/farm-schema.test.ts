import { readDocument } from "@farmgate/shared";
import { describe, expect, test } from "vitest";
import { checkFarm, type Farm } from "../../src/config/farm-schema.ts";

function farm(text: string): Farm {
  const result = checkFarm(readDocument(text, {}));
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value;
}

function problems(text: string): string[] {
  const result = checkFarm(readDocument(text, {}));
  return result.ok ? [] : result.problems.map(({ line, path, message }) => `${line} ${path}: ${message}`);
}

const agent = (name: string, port: number) => `
  - name: ${name}
    listen: { port: ${port} }
    swap: { command: ./swap.sh }
    models: [{ name: m-${name}, url: "http://127.0.0.1:9001" }]`;

describe("the workers of a farm file", () => {
  test("are its agents when the gateway names none", () => {
    const { gateway } = farm(`agents:${agent("gpu", 8401)}${agent("mac", 8402)}`);
    expect(gateway.workers.map(({ name, url, engine }) => [name, url, engine])).toEqual([
      ["gpu", "http://127.0.0.1:8401", "agent"],
      ["mac", "http://127.0.0.1:8402", "agent"],
    ]);
  });

  test("are its engines when there are no agents", () => {
    const { gateway } = farm(`engines:\n  - { name: a, listen: { port: 9101 }, models: [m] }\n`);
    expect(gateway.workers.map(({ name, url }) => [name, url])).toEqual([["a", "http://127.0.0.1:9101"]]);
  });

  test("are what the gateway names, even none", () => {
    expect(farm(`gateway: { workers: [] }\nagents:${agent("gpu", 8401)}`).gateway.workers).toEqual([]);
  });

  test("carry the agent's key that may use every model", () => {
    const text = `agents:${agent("gpu", 8401)}
    keys: [{ name: few, key: k1, models: [x] }, { name: all, key: k2 }]`;
    expect(farm(text).gateway.workers[0]?.apiKey).toBe("k2");
    const hashed = text.replace("key: k2", `key: "sha256:${"0".repeat(64)}"`);
    expect(farm(hashed).gateway.workers[0]?.apiKey).toBeNull();
  });

  test("are asked on loopback where an agent listens everywhere", () => {
    const text = `agents:${agent("gpu", 8401).replace("{ port", '{ host: "::", port')}\n    open: true`;
    expect(farm(text).gateway.workers[0]?.url).toBe("http://127.0.0.1:8401");
  });

  test("an engine without a name is called after its port", () => {
    expect(farm("engines:\n  - { listen: { port: 9101 }, models: [m] }").engines[0]?.name).toBe("engine-9101");
  });
});

describe("the problems of a farm file", () => {
  test("every part's problems are told with the path from the file's top", () => {
    const text = [
      "gateway:",
      "  drain: soon",
      "agents:",
      "  - name: gpu",
      "    swop: {}",
      "engines:",
      "  - listen: { port: 9101 }",
      "    models: []",
    ];
    expect(problems(text.join("\n"))).toEqual([
      "2 gateway.drain: must be a duration such as 500ms, 5s or 10m",
      "5 agents[0].swop: unknown key; did you mean swap?",
      "8 engines[0].models: must name a model",
    ]);
  });

  test("two agents with one name", () => {
    expect(problems(`agents:${agent("mac", 8401)}${agent("mac", 8402)}`)).toContain(
      "6 agents[1].name: mac is already the name of agents[0]",
    );
  });

  test("two programs on one port", () => {
    expect(problems(`gateway: { listen: { port: 8401 } }\nagents:${agent("mac", 8401)}`)).toEqual([
      "4 agents[0].listen.port: 8401 is already the port of gateway",
    ]);
  });

  test("a port that nobody could know", () => {
    expect(problems(`agents:${agent("mac", 0)}`)).toEqual([
      "3 agents[0].listen.port: must be a fixed port in a farm file",
    ]);
  });

  test("an unset variable is told once, whichever parts are checked", () => {
    const text = `agents:${agent("mac", 8401)}\n    keys: [{ name: a, key: "\${NO_SUCH_KEY}" }]\n`;
    expect(problems(text)).toEqual(["6 agents[0].keys[0].key: environment variable NO_SUCH_KEY is not set"]);
  });

  test("unknown keys and wrong types at the top", () => {
    expect(problems("agents: {}\nagent: []\n")).toEqual([
      "1 agents: must be a list",
      "2 agent: unknown key; did you mean agents?",
    ]);
  });

  test("a gateway part that is a list", () => {
    expect(problems("gateway: []\nagents: []\n")).toHaveLength(1);
  });
});
