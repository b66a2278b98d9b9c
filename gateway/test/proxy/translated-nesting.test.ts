import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { type Answer, fakeWorker } from "../support/fake-worker.ts";
import { agents, errorOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

/** What the parser takes, but nothing can write down again. */
const DEEP = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;

const answers =
  (status: number, type: string, text: string): Answer =>
  ({ response }) => {
    response.writeHead(status, { "content-type": type });
    response.end(text);
  };

async function over(api: string, answer: Answer): Promise<RunningGateway> {
  const worker = await fakeWorker({ m: "warm" }, answer);
  worker.figures = { m: { apis: [api] } };
  return runGateway({ workers: agents({ worker }) });
}

function post(gateway: RunningGateway, path: string, body: object) {
  const headers = { "content-type": "application/json" };
  return fetch(gateway.url + path, { method: "POST", body: JSON.stringify({ model: "m", ...body }), headers });
}

const ASKED = { max_tokens: 5, input: "Hi", messages: [{ role: "user", content: "Hi" }] };

async function noneIsLeft(gateway: RunningGateway): Promise<void> {
  await until(
    "no request is left",
    async () => (await (await fetch(`${gateway.url}/farm/requests`)).text()) === '{"requests":[]}',
  );
}

describe("what is nested too deeply to be written down", () => {
  const call = `{"function":{"name":"f","arguments":${DEEP}}}`;
  it.each([
    [
      "/v1/messages",
      "chat",
      `{"choices":[{"index":0,"message":{"tool_calls":[${call}]},"finish_reason":"tool_calls"}]}`,
    ],
    [
      "/v1/responses",
      "chat",
      `{"choices":[{"index":0,"message":{"tool_calls":[${call}]},"finish_reason":"tool_calls"}]}`,
    ],
    ["/api/chat", "chat", `{"choices":[{"index":0,"message":{"tool_calls":[${call}]},"finish_reason":"tool_calls"}]}`],
    ["/v1/chat/completions", "ollama-chat", `{"message":{"tool_calls":[${call}]},"done":true}`],
  ])("is no answer of a worker to %s", async (path, api, text) => {
    const gateway = await over(api, answers(200, "application/json", text));
    const response = await post(gateway, path, { ...ASKED, stream: false });
    expect(response.status).toBe(502);
    expect(await response.text()).toContain("nests too deep");
    await noneIsLeft(gateway);
  });

  it("is told as a fault in the middle of a stream", async () => {
    const text = `{"message":{"tool_calls":[${call}]},"done":false}\n`;
    const gateway = await over("ollama-chat", answers(200, "application/x-ndjson", text));
    expect(await (await post(gateway, "/v1/chat/completions", { ...ASKED, stream: true })).text()).toContain(
      "nests too deep",
    );
    await noneIsLeft(gateway);
  });

  it("is not retold of a worker's error", async () => {
    const gateway = await over("chat", answers(400, "application/json", `{"error":{"message":"bad","more":${DEEP}}}`));
    const response = await post(gateway, "/v1/responses", ASKED);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toBe("bad");
    await noneIsLeft(gateway);
  });

  it("is refused of a caller, in whose request it stood as text", async () => {
    const gateway = await over("ollama-chat", answers(200, "application/json", "{}"));
    const calls = [{ id: "c", type: "function", function: { name: "f", arguments: DEEP } }];
    const response = await post(gateway, "/v1/chat/completions", {
      messages: [{ role: "assistant", tool_calls: calls }],
    });
    expect(response.status).toBe(400);
    expect((await errorOf(response)).code).toBe("invalid_request");
    await noneIsLeft(gateway);
  });
});
