import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { foundFarmText } from "../../src/up/choose-farm.ts";
import { findEngines } from "../../src/up/found-engines.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server that answers these paths with JSON, all else with 404; `seen` collects what it was asked. */
async function serve(answers: Record<string, unknown>, seen: string[] = []): Promise<number> {
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const value = answers[request.url ?? ""];
    response.writeHead(value === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(value ?? {}));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

describe("engines on the usual ports", () => {
  test("count when they list a model, the OpenAI way or Ollama's", async () => {
    const openAi = await serve({ "/v1/models": { object: "list", data: [{ id: "qwen" }] } });
    const ollama = await serve({
      "/v1/models": { data: null },
      "/api/tags": { models: [{ name: "llama3.2:latest" }] },
    });
    const found = await findEngines([
      { port: openAi, name: "a" },
      { port: ollama, name: "b" },
    ]);
    expect(found).toEqual([
      { name: "a", url: `http://127.0.0.1:${openAi}`, models: ["qwen"] },
      { name: "b", url: `http://127.0.0.1:${ollama}`, models: ["llama3.2:latest"] },
    ]);
  });

  test("count with their one model, as TEI and TGI tell it", async () => {
    const tei = await serve({ "/info": { model_id: "BAAI/bge-m3", model_type: { embedding: {} } } });
    const named = await serve({ "/info": { model_id: "BAAI/bge-m3", served_model_name: "bge" } });
    const found = await findEngines([
      { port: tei, name: "a" },
      { port: named, name: "b" },
    ]);
    expect(found.map(({ models }) => models)).toEqual([["BAAI/bge-m3"], ["bge"]]);
  });

  test("do not count without a model, or when they are something else", async () => {
    const seen: string[] = [];
    const empty = await serve({ "/v1/models": { data: [] }, "/api/tags": { models: [] } }, seen);
    const website = await serve({ "/v1/models": "welcome" }, seen);
    expect(
      await findEngines([
        { port: empty, name: "a" },
        { port: website, name: "b" },
      ]),
    ).toEqual([]);
    expect(seen.every((request) => request.startsWith("GET "))).toBe(true);
  });

  test("do not count when nothing listens", async () => {
    const port = await serve({});
    const [server] = servers.splice(0);
    await new Promise((resolve) => server?.close(resolve));
    expect(await findEngines([{ port, name: "a" }])).toEqual([]);
  });

  test("become workers of a gateway file", () => {
    const text = foundFarmText([{ name: "ollama", url: "http://127.0.0.1:11434", models: ["m"] }]);
    expect(text).toBe('workers:\n  - { name: ollama, url: "http://127.0.0.1:11434" }\n');
  });
});
