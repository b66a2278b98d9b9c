import { expect, it } from "vitest";
import { agentConfigSchema } from "../../src/index.ts";
import { ModelBook, type ServedModel } from "../../src/served-model.ts";
import { refuseUnspoken, spokenOf } from "../../src/serve/spoken.ts";
import { only } from "../support/conditions.ts";

const config = { swap: { command: "x" }, models: [{ name: "m", url: "http://127.0.0.1:1" }] };
const script = only(new ModelBook(agentConfigSchema.parse(config)).models);
const listed = (more: Partial<ServedModel>): ServedModel => ({ ...script, ...more });

it("takes the word of the engine on its model, then its kind, and else serves all that it may have", () => {
  expect(spokenOf(listed({ engine: "ollama", apis: ["embeddings"] }), null)).toEqual(["embeddings"]);
  expect([...spokenOf(listed({ engine: "ollama" }), null)]).toContain("ollama-chat");
  expect([...spokenOf(script, "llama-server")]).toContain("infill");
  const unknown = [...spokenOf(script, null)];
  expect(unknown).toEqual(expect.arrayContaining(["chat", "embeddings", "rerank", "speech", "infill", "tokenize"]));
  expect(unknown.filter((api) => api.startsWith("ollama-") || api === "messages")).toEqual([]);
});

it("refuses what an engine is known not to have, before its model is loaded for it", () => {
  expect(() => refuseUnspoken("speech", script, "mlx")).toThrow(
    "m is not served as speech: its engine serves chat, completions with it.",
  );
  expect(() => refuseUnspoken("chat", listed({ engine: "tei", apis: [] }), null)).toThrow("nothing that is offered");
  expect(() => refuseUnspoken("speech", script, null)).not.toThrow();
  expect(() => refuseUnspoken("chat", listed({ engine: "ollama" }), null)).not.toThrow();
});
