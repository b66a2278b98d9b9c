import { describe, expect, test } from "vitest";
import { configKind } from "../../src/config/config-kind.ts";

describe("the kind of a configuration file", () => {
  test.each([
    ["agents make a farm, whatever stands beside them", { agents: [], models: [], workers: [] }, "farm"],
    ["an empty list of agents is still a farm's", { agents: null }, "farm"],
    ["workers make a gateway", { workers: [] }, "gateway"],
    ["models as a mapping are a gateway's aliases", { models: { aliases: {} } }, "gateway"],
    ["models as a list are an agent's", { models: [], listen: {} }, "agent"],
    ["a name makes an agent, also with gateway and engines", { name: "a", gateway: {}, engines: [{}] }, "agent"],
    ["a swap script makes an agent", { swap: { command: "x" } }, "agent"],
    ["a gateway to start makes a farm", { gateway: { listen: { port: 8400 } } }, "farm"],
    ["an empty gateway part makes a farm", { gateway: null }, "farm"],
    ["engines to start make a farm", { engines: [{ models: ["a"] }] }, "farm"],
    ["engines with addresses are an agent's", { engines: [{ url: "http://127.0.0.1:11434" }] }, "agent"],
    ["a gateway with an address is an agent's", { gateway: { url: "http://192.0.2.1:8400" } }, "agent"],
    ["gateways in a list are an agent's", { gateway: [{ url: "http://192.0.2.1:8400" }] }, "agent"],
    ["a gateway to look for is an agent's", { gateway: { discover: true } }, "agent"],
    ["listen alone is a gateway's", { listen: { port: 1 } }, "gateway"],
    ["an empty file is a gateway's", null, "gateway"],
    ["a list is a gateway's, which then says what is wrong", [], "gateway"],
  ])("%s", (_, value, kind) => {
    expect(configKind(value)).toBe(kind);
  });
});
