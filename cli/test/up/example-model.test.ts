import { expect, test } from "vitest";
import { pick } from "../../src/up/example-model.ts";

const entry = (id: string, kind: string, warm: string[]) => ({ id, object: "model", farmgate: { kind, warm } });

test("a warm chat model is asked first, then any chat model, never an embedding model", () => {
  const embed = entry("embed", "embedding", ["cpu"]);
  expect(pick({ data: [embed, entry("big", "chat", []), entry("small", "chat", ["mac"])] })).toBe("small");
  expect(pick({ data: [embed, entry("big", "chat", [])] })).toBe("big");
  expect(pick({ data: [embed] })).toBeNull();
  expect(pick({ data: [entry("nomic-embed-text", "chat", ["cpu"]), entry("small", "chat", [])] })).toBe("small");
  expect(pick({ error: "no" })).toBeNull();
});
