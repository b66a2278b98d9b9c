import { describe, expect, it } from "vitest";
import { agent } from "../src/agent.ts";
import { llamaServer } from "../src/llama-server.ts";
import { recordedAnswer, recordedJson } from "./recorded-answer.ts";

describe("llama-server with one model", () => {
  it("lists it as warm, with the context of a slot and the number of slots", () => {
    const report = llamaServer.parse(recordedJson("single-models"), recordedJson("single-props"));
    expect(report?.models).toMatchObject([{ id: "stories260k", state: "warm", contextLength: 512, aliases: [] }]);
    expect(report?.slots).toBe(4);
  });

  it("does not refuse names that it does not have", () => {
    expect(llamaServer.parse(recordedJson("single-models"), null)?.refusesUnknown).toBe(false);
  });

  it("stays warm without its properties, and takes the context from them where the list has none", () => {
    const bare = { data: [{ id: "m" }] };
    expect(llamaServer.parse(bare, null)?.models).toMatchObject([{ state: "warm", contextLength: null }]);
    expect(llamaServer.parse(bare, recordedJson("single-props"))?.models).toMatchObject([{ contextLength: 512 }]);
  });

  it("is cold while its weights sleep", () => {
    expect(llamaServer.parse({ data: [{ id: "m" }] }, { is_sleeping: true })?.models[0]?.state).toBe("cold");
  });

  it("tells a model that sees", () => {
    const list = { data: [{ id: "m" }], models: [{ capabilities: ["completion", "multimodal"] }] };
    expect(llamaServer.parse(list, null)?.models[0]).toMatchObject({
      kind: "vision",
      capabilities: ["tools", "vision"],
    });
    const others = { data: [{ id: "m" }, { id: "bge-m3" }] };
    expect(llamaServer.parse(others, null)?.models.map(({ capabilities }) => capabilities)).toEqual([["tools"], []]);
  });
});

describe("llama-server as a router", () => {
  const states = (name: string) =>
    Object.fromEntries(llamaServer.parse(recordedJson(name), null)?.models.map((m) => [m.id, m.state]) ?? []);

  it("tells cold from warm and refuses unknown names", () => {
    expect(llamaServer.parse(recordedJson("router-models-initial"), null)?.refusesUnknown).toBe(true);
    expect(new Set(Object.values(states("router-models-initial")))).toEqual(new Set(["cold"]));
    expect(states("router-models-two-loaded")).toMatchObject({ "stories-200m": "warm", "stories-200m-Q4_0": "cold" });
  });

  it("tells a failed load", () => {
    expect(states("router-models-after-broken")).toMatchObject({ broken: "failed", "stories-200m-Q4_0": "cold" });
  });

  it("knows loading and sleeping, and takes a new word for unknown", () => {
    const list = ["loading", "sleeping", "melting"].map((value) => ({ id: value, status: { value } }));
    expect(llamaServer.parse({ data: list }, null)?.models.map((m) => m.state)).toEqual(["loading", "cold", "unknown"]);
  });

  it("is a router by its properties while it has no models", () => {
    expect(llamaServer.parse({ data: [] }, { role: "router" })?.refusesUnknown).toBe(true);
    expect(llamaServer.parse({ data: [] }, null)?.refusesUnknown).toBe(false);
  });
});

describe("what a llama-server's answer means", () => {
  it.each([
    ["single-err-badjson", "client_fault"],
    ["single-err-ctx-overflow", "client_fault"],
    ["single-err-nomessages", "client_fault"],
    ["embed-too-long", "client_fault"],
    ["embed-chat-refused", "client_fault"],
    ["router-chat-no-model", "client_fault"],
    ["single-err-embeddings-off", "unknown_model"],
    ["single-404", "unknown_model"],
    ["apikey-missing", "unknown_model"],
    ["router-chat-unknown-model", "unknown_model"],
    ["router-chat-broken-model", "load_failed"],
    ["loading-models", "loading"],
  ])("%s: %s", (name, meaning) => {
    expect(llamaServer.meaning(recordedAnswer(name))).toBe(meaning);
  });

  it.each(["image", "audio", "video"])(
    "takes %s for a model without it for the caller's fault, not its own",
    (what) => {
      const message = `${what} input is not supported - hint: if this is unexpected, you may need to provide the mmproj`;
      const body = JSON.stringify({ error: { code: 500, message, type: "server_error" } });
      expect(llamaServer.meaning({ status: 500, body })).toBe("client_fault");
      expect(agent.meaning({ status: 500, body })).toBe("client_fault");
    },
  );

  it("takes the router's limit for busy, not for a fault", () => {
    const body = '{"error":{"code":500,"message":"model limit reached, try again later","type":"server_error"}}';
    expect(llamaServer.meaning({ status: 500, body })).toBe("busy");
  });

  it("takes an unreachable child for a fault", () => {
    expect(llamaServer.meaning({ status: 500, body: "proxy error: Could not establish connection" })).toBe(
      "worker_fault",
    );
  });
});
