import { describe, expect, it } from "vitest";
import { type AgentCatalog, catalogSchema, receivedCatalogSchema } from "../../src/protocol/catalog.ts";

const catalog: AgentCatalog = {
  protocol: 1,
  worker: "gpu-box",
  version: "0.1.0",
  draining: false,
  models: [
    {
      id: "coder",
      aliases: ["code"],
      kind: "chat",
      state: "warm",
      slots: { total: 4, busy: 1 },
      queued: 3,
      oldest_wait_ms: 1_200,
      load_ms: null,
      tokens_per_second: 41.5,
      context_length: 32_768,
      memory_bytes: null,
      engine: "llama-server",
      apis: ["chat", "completions"],
      quantization: "Q4_K_M",
      digest: null,
      pinned: false,
      prompt_tokens_per_second: null,
      service_ms: 2_400,
      predicted_wait_ms: null,
      wait_bound_ms: 60_000,
      temperature: "active",
    },
  ],
  queue: {
    depth: 3,
    swapping_to: null,
    waiting: [{ id: "r1", model: "coder", position: 1, waited_ms: 12, bound_ms: null }],
  },
  memory: { budget_bytes: 0, used_bytes: 0 },
};

describe("the catalogue that an agent sends", () => {
  it("is exactly the protocol", () => {
    expect(catalogSchema.parse(catalog)).toEqual(catalog);
    expect(catalogSchema.safeParse({ ...catalog, extra: 1 }).success).toBe(false);
    expect(catalogSchema.safeParse({ ...catalog, protocol: 2 }).success).toBe(false);
    expect(catalogSchema.safeParse({ ...catalog, queue: { depth: -1, swapping_to: null } }).success).toBe(false);
  });

  it("is taken as it is by a gateway", () => {
    expect(receivedCatalogSchema.parse(catalog)).toMatchObject({ queue: { waiting: catalog.queue.waiting } });
  });
});

describe("the catalogue that a gateway reads", () => {
  it("may be older: what is missing is unknown", () => {
    const { models, draining } = receivedCatalogSchema.parse({ protocol: 1, models: [{ id: "m" }] });
    expect(draining).toBe(false);
    expect(models[0]).toMatchObject({ id: "m", aliases: [], kind: "chat", state: "unknown" });
    expect(models[0]?.slots ?? null).toBeNull();
  });

  it("may be newer: unknown fields, states and figures do no harm", () => {
    const newer = { id: "m", state: "hibernating", slots: "many", queued: -1, load_ms: "soon", apis: 5, colour: "red" };
    const { models } = receivedCatalogSchema.parse({ protocol: 9, models: [newer], weather: "fine" });
    expect(models[0]).toMatchObject({ state: "unknown", slots: null, queued: null, load_ms: null, apis: null });
    expect(models[0]).not.toHaveProperty("colour");
  });

  it.each([
    ["no catalogue", {}],
    ["a list", []],
    ["no models", { protocol: 1 }],
    ["a model without a name", { protocol: 1, models: [{ id: "" }] }],
    ["a name without end", { protocol: 1, models: [{ id: "x".repeat(301) }] }],
    ["another server's answer", { object: "list", data: [{ id: "m" }] }],
    ["more models than any machine has", { protocol: 1, models: Array.from({ length: 10_001 }, () => ({ id: "m" })) }],
  ])("is not %s", (_, body) => {
    expect(receivedCatalogSchema.safeParse(body).success).toBe(false);
  });
});
