import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { ask } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestEngine, startTestGateway } from "../harness/gateway-farm.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

describe("a worker whose engine should have /v1/responses and answers 404 for it", () => {
  it("is asked as chat in the same request, at once from then on, and explain says so", async () => {
    const asked: string[] = [];
    const options = { models: [{ name: "m", loaded: true }], apis: ["chat"] };
    const engine = await startTestEngine(cleanup, options, ({ method, url: path }) => {
      if (method === "POST") asked.push(path);
    });
    const { url } = await startTestGateway(cleanup, { old: engine.url });
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });

    const { data: first, response } = await client.responses
      .create({ model: "m", input: "Hello", max_output_tokens: 5 })
      .withResponse();
    expect(first.output_text).not.toBe("");
    expect(first.status).toBe("incomplete");
    expect(response.headers.get("x-farmgate-worker")).toBe("old");
    expect(response.headers.get("x-farmgate-attempts")).toBe("2");
    expect(asked).toEqual(["/v1/responses", "/v1/chat/completions"]);

    const stream = client.responses.stream({ model: "m", input: "Hello", max_output_tokens: 5 });
    const streamed = await stream.finalResponse();
    expect(streamed.output_text).toBe(first.output_text);
    expect(asked.slice(2)).toEqual(["/v1/chat/completions"]);

    const explained = await ask(`${url}/farm/explain`, { model: "m", api: "responses" }).answer;
    const { ranked } = JSON.parse(explained.body) as { ranked: { worker: string; api: string; reason: string }[] };
    expect(ranked).toMatchObject([{ worker: "old", api: "chat", reason: expect.stringContaining("asked as chat") }]);
  });

  it("tells a caller what cannot be asked of it so", async () => {
    const engine = await startTestEngine(cleanup, { models: [{ name: "m", loaded: true }], apis: ["chat"] });
    const { url } = await startTestGateway(cleanup, { old: engine.url });
    const body = { model: "m", input: "Hello", previous_response_id: "resp_1" };
    for (const _ of ["found out", "known"]) {
      const answer = await ask(`${url}/v1/responses`, body).answer;
      expect(answer.status).toBe(501);
      expect(answer.headers["x-should-retry"]).toBe("false");
      expect(JSON.parse(answer.body)).toMatchObject({
        error: { code: "not_supported", param: "previous_response_id" },
      });
    }
  });
});
