import { expect, it } from "vitest";
import { apiFamily, inferenceApi } from "../src/apis.ts";
import { pathOf } from "../src/request-target.ts";

it.each([
  ["/v1/chat/completions", "chat", "openai"],
  ["/v1/completions", "completions", "openai"],
  ["/v1/embeddings", "embeddings", "openai"],
  ["/v1/rerank", "rerank", "openai"],
  ["/v1/responses", "responses", "openai"],
  ["/v1/models", null, "openai"],
  ["/v1/messages/count_tokens", "count-tokens", "anthropic"],
  ["/v1/messages", "messages", "anthropic"],
  ["/v1/messagesX", null, "openai"],
  ["/api/tags", null, "ollama"],
  ["/api/chat", "ollama-chat", "ollama"],
  ["/v1/audio/transcriptions", "transcriptions", "openai"],
  ["/infill", "infill", "openai"],
  ["/rerank", null, "openai"],
  ["/apiX", null, "openai"],
  ["/V1/chat/completions", null, "openai"],
])("%s is inference %s with errors as %s", (path, api, family) => {
  expect([inferenceApi(path), apiFamily(path)]).toEqual([api, family]);
});

it.each([
  ["/v1/models", "/v1/models"],
  ["/v1/models?a=/b?c", "/v1/models"],
  ["?", ""],
])("the path of %s is %j", (target, path) => {
  expect(pathOf(target)).toBe(path);
});
