import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { cleanup } from "../support/cleanup.ts";
import { runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

/** An Ollama without `/v1`; `one`: from before `/api/embed`, with one text a request. */
async function oldOllama(one: boolean) {
  const asked: { path: string; texts: string[] }[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece) => (text += String(piece)));
    request.on("end", () => {
      const path = request.url ?? "";
      const send = (status: number, body: object) =>
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      if (path === "/api/version") return send(200, { version: "0.1.20" });
      if (request.method === "GET") return send(200, { models: [{ name: "m", model: "m", size: 1 }] });
      if (path !== (one ? "/api/embeddings" : "/api/embed")) return response.writeHead(404).end("404 page not found");
      const { input, prompt } = JSON.parse(text) as { input: string[]; prompt: string };
      asked.push({ path, texts: one ? [prompt] : input });
      if (one) return send(200, { embedding: [prompt.length, 0.5] });
      send(200, { model: "m", embeddings: input.map((each) => [each.length, 0.5]), prompt_eval_count: input.length });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function startFarm(one: boolean) {
  const ollama = await oldOllama(one);
  const workers = [{ name: "old", url: ollama.url, engine: "ollama" }];
  const gateway = await runGateway({ workers, embeddings: { batchWindow: "300ms" } });
  await until("its model is known", async () =>
    (await (await fetch(`${gateway.url}/v1/models`)).text()).includes('"m"'),
  );
  const embed = async (input: unknown, more: object = {}) => {
    const body = JSON.stringify({ model: "m", input, ...more });
    const answer = await fetch(`${gateway.url}/v1/embeddings`, { method: "POST", body });
    return { status: answer.status, told: (await answer.json()) as { data: { embedding: unknown }[] } };
  };
  return { asked: ollama.asked, embed };
}

function firstFloat(base64: unknown): number {
  return Buffer.from(typeof base64 === "string" ? base64 : "", "base64").readFloatLE(0);
}

describe("embedding calls that are joined for a worker with another API", () => {
  it("are one call there too, and split after their answer was translated", async () => {
    const { asked, embed } = await startFarm(false);
    const answers = await Promise.all([embed("a"), embed(["ab", "abc"]), embed("abcd")]);
    expect(asked.map(({ texts }) => texts.length)).toEqual([4]);
    expect(answers.map(({ told }) => told.data)).toEqual([
      [{ object: "embedding", index: 0, embedding: [1, 0.5] }],
      [
        { object: "embedding", index: 0, embedding: [2, 0.5] },
        { object: "embedding", index: 1, embedding: [3, 0.5] },
      ],
      [{ object: "embedding", index: 0, embedding: [4, 0.5] }],
    ]);
    const packed = await Promise.all(["x", "xy"].map((text) => embed(text, { encoding_format: "base64" })));
    expect(packed.map(({ told }) => firstFloat(told.data[0]?.embedding))).toEqual([1, 2]);
  });

  it("are served one by one where that takes one text alone, which is then known", async () => {
    const { asked, embed } = await startFarm(true);
    const both = () => Promise.all([embed("a"), embed("ab")]);
    for (const { status } of await both()) expect(status).toBe(200);
    expect(asked.map(({ texts }) => texts)).toEqual(expect.arrayContaining([["a"], ["ab"]]));
    for (const { status } of await both()) expect(status).toBe(200);
    expect(asked).toHaveLength(4);
  });
});
