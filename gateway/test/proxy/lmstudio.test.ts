import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { chat, runGateway } from "../support/gateway.ts";

/** An LM Studio with one model loaded, which answers every name by that one. */
async function oneForAll(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader("content-type", "application/json");
    if (request.url === "/api/v1/models") {
      const models = ["qwen/qwen3-8b", "m"].map((key) => ({ key, type: "llm", loaded_instances: [{ id: key }] }));
      response.end(JSON.stringify({ models }));
    } else if (request.method === "POST") {
      response.end(JSON.stringify({ object: "chat.completion", model: "qwen/qwen3-8b", choices: [] }));
    } else response.writeHead(404).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it("an LM Studio that answered a model by another one is not asked for it again", async () => {
  const gateway = await runGateway({ workers: [{ name: "mac", url: await oneForAll(), engine: "lmstudio" }] });
  const first = await chat(gateway, { model: "m" });
  expect([first.status, await first.json()]).toMatchObject([200, { model: "qwen/qwen3-8b" }]);
  const second = await chat(gateway, { model: "m" });
  expect(second.status).toBe(503);
  expect(await second.text()).toContain("no_worker");
  expect((await chat(gateway, { model: "qwen/qwen3-8b" })).status).toBe(200);
});
