import { expect, it } from "vitest";
import { agentConfigSchema } from "../../src/index.ts";
import { allowedModel } from "../../src/serve/allowed-model.ts";
import { ModelBook } from "../../src/served-model.ts";

it("likens an unknown name only to models that the caller may use", () => {
  const models = ["coder-7b", "coder-8b"].map((name, i) => ({ name, url: `http://127.0.0.1:${i + 1}` }));
  const book = new ModelBook(agentConfigSchema.parse({ swap: { command: "x" }, models }));
  const key = { name: "k", key: "secret", models: ["coder-8b"], maxConcurrent: 0, requestsPerMinute: 0, admin: false };
  const asked = (caller: Parameters<typeof allowedModel>[2]) => () => allowedModel("coder-9b", book, caller);
  expect(asked({ name: "", key: null })).toThrow("Did you mean coder-7b or coder-8b?");
  expect(asked({ name: "k", key })).toThrow("Did you mean coder-8b?");
});
