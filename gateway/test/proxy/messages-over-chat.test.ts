import { describe, expect, it } from "vitest";
import { type Answer, fakeWorker, hangs, refuses } from "../support/fake-worker.ts";
import { agents, chat, runGateway } from "../support/gateway.ts";
import { StreamReader } from "../support/stream-reader.ts";
import { until } from "../support/until.ts";

const hello = { choices: [{ message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }] };
const EVENTS =
  'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n' +
  'data: {"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const NOT_THERE = refuses(404, { error: { message: "File Not Found", type: "not_found_error" } });

/** One worker that says which APIs its model has, behind a gateway. */
async function farm(apis: readonly string[], answer: Answer, config: object = {}) {
  const worker = await fakeWorker({ m: "warm" }, answer);
  worker.more.model = { apis };
  const gateway = await runGateway({ workers: agents({ a: worker }), ...config });
  const ask = (body: object = {}, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }], ...body }),
    });
  return { worker, gateway, ask };
}

/** Answers chat in this way, and has nothing else. */
function onlyChat(answer: Answer): Answer {
  return (asked) => (asked.path === "/v1/chat/completions" ? answer(asked) : NOT_THERE(asked));
}

async function asked(worker: Awaited<ReturnType<typeof farm>>["worker"]) {
  await until("the worker is asked", () => worker.asked.length === 1);
  return worker.request(0);
}

describe("a request in another API than the worker's", () => {
  it("ends with an error, and gives its place back, where its answer cannot be written down", async () => {
    const deep = 50_000;
    const calls = [{ id: "c", function: { name: "f", arguments: `{"a":${"[".repeat(deep)}${"]".repeat(deep)}}` } }];
    const message = { role: "assistant", content: null, tool_calls: calls };
    const { gateway, ask } = await farm(
      ["chat"],
      refuses(200, { choices: [{ message, finish_reason: "tool_calls" }] }),
    );
    const answer = await ask();
    expect(answer.status).toBe(502);
    const { workers } = (await (await fetch(`${gateway.url}/farm/workers`)).json()) as { workers: object[] };
    expect(workers).toMatchObject([{ name: "a", inflight: 0 }]);
  });

  it("is put to the same worker in the next way when it lacks the first, and at once the next time", async () => {
    const { worker, gateway, ask } = await farm(["messages", "chat"], onlyChat(refuses(200, hello)));
    expect(await (await ask()).json()).toMatchObject({ content: [{ type: "text", text: "Hello" }] });
    expect(worker.asked.map(({ path }) => path)).toEqual(["/v1/messages", "/v1/chat/completions"]);
    const again = await ask();
    expect([again.status, again.headers.get("x-farmgate-attempts")]).toEqual([200, "1"]);
    expect(worker.asked.at(-1)?.path).toBe("/v1/chat/completions");
    expect((await chat(gateway)).status).toBe(200);
  });

  it("sets aside what it was put as, not what its caller called", async () => {
    const { worker, gateway, ask } = await farm(["chat"], NOT_THERE);
    expect((await ask()).status).toBe(404);
    expect((await ask()).status).toBe(503);
    expect((await chat(gateway)).status).toBe(503);
    expect(worker.asked).toHaveLength(1);
  });

  it("tells the worker's refusal in its caller's shape, behind comments too", async () => {
    const refusal = { error: { message: "prompt too long", type: "exceed_context_size_error", code: 400 } };
    const told = { type: "error", error: { type: "invalid_request_error", message: "prompt too long" } };
    const first = await farm(["chat"], refuses(400, refusal));
    const answer = await first.ask();
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ ...told, request_id: answer.headers.get("request-id") });

    const { worker, ask } = await farm(["chat"], hangs, { sseComments: "30ms" });
    const reader = new StreamReader(await ask({ stream: true }));
    await reader.until(": waiting");
    await refuses(400, refusal)(await asked(worker));
    expect(await reader.rest()).toMatch(/\n\nevent: error\ndata: \{"type":"error".*prompt too long.*\n\n$/);
  });

  it("gets its stream behind comments, streamed by the worker or not", async () => {
    const streams: Answer = ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(EVENTS);
    };
    for (const answer of [streams, refuses(200, hello)]) {
      const { worker, ask } = await farm(["chat"], hangs, { sseComments: "30ms" });
      const response = await ask({ stream: true });
      expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
      const reader = new StreamReader(response);
      await reader.until(": waiting");
      await answer(await asked(worker));
      expect(await reader.rest()).toMatch(/event: message_start\n[^]*event: message_stop\ndata: .*\n\n$/);
    }
  });

  it("is told once that it cannot be put so, before a worker is asked", async () => {
    const { worker, ask } = await farm(["chat"], hangs);
    const wrong = await ask({ messages: [{ role: "user", content: [{ type: "text" }] }] });
    expect([wrong.status, await wrong.json()]).toMatchObject([
      400,
      {
        type: "error",
        error: { type: "invalid_request_error", message: "messages.0.content.0.text: expected a string." },
      },
    ]);
    expect((await ask({ tools: [{ type: "web_search_20250305", name: "web_search" }] })).status).toBe(501);
    expect(worker.asked).toHaveLength(0);
  });

  it("goes on to a worker that has its own API when it cannot be put otherwise", async () => {
    const native = await fakeWorker({ m: "cold" }, refuses(200, { type: "message", content: [] }));
    const other = await fakeWorker({ m: "warm" });
    native.more.model = { apis: ["messages"] };
    other.more.model = { apis: ["chat"] };
    const gateway = await runGateway({ workers: agents({ other, native }) });
    const body = { model: "m", messages: [], tools: [{ type: "web_search_20250305", name: "web_search" }] };
    const answer = await fetch(`${gateway.url}/v1/messages`, { method: "POST", body: JSON.stringify(body) });
    expect([answer.status, answer.headers.get("x-farmgate-worker")]).toEqual([200, "native"]);
    expect(other.asked).toHaveLength(0);
  });

  it("has what it used counted", async () => {
    const usage = 'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\n';
    const { gateway, ask } = await farm(["chat"], ({ response }) => {
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .end(EVENTS.replace("data: [DONE]", `${usage}$&`));
    });
    await (await ask({ stream: true })).text();
    const metrics = async () => (await fetch(`${gateway.url}/metrics`)).text();
    await expect.poll(metrics).toContain('farmgate_tokens_total{model="m",worker="a",direction="completion"} 7');
  });
});

describe("the request's id", () => {
  it("is told to Anthropic's callers by the header that they read, on answers, errors and other paths", async () => {
    const { gateway, ask } = await farm(["messages"], ({ response }) => {
      response.writeHead(200, { "content-type": "application/json", "request-id": "the-worker's" }).end("{}");
    });
    const id = { "x-request-id": "mine" };
    const version = { "anthropic-version": "2023-06-01" };
    const get = (path: string, headers: Record<string, string>) => fetch(gateway.url + path, { headers });
    for (const answer of [
      await ask({}, id),
      await ask({ model: "none" }, id),
      await ask({}, { ...id, "x-farmgate-dry-run": "1" }),
      await get("/v1/messages/batches", id),
      await get("/v1/messages", id),
      await get("/v1/models", { ...id, ...version }),
    ]) {
      expect([answer.headers.get("x-request-id"), answer.headers.get("request-id")]).toEqual(["mine", "mine"]);
    }
    for (const answer of [await get("/v1/models", id), await chat(gateway, {}, { headers: id })]) {
      expect([answer.headers.get("x-request-id"), answer.headers.get("request-id")]).toEqual(["mine", null]);
    }
  });
});

describe("/v1/models for Anthropic's callers", () => {
  it("has their form, and OpenAI's callers see theirs", async () => {
    const worker = await fakeWorker({ m: "warm", "org/other": "cold" });
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const get = async (path: string, headers: Record<string, string> = { "anthropic-version": "2023-06-01" }) => {
      const answer = await fetch(`${gateway.url}${path}`, { headers });
      return (await answer.json()) as Record<string, unknown>;
    };
    expect(await get("/v1/models")).toMatchObject({
      data: [{ type: "model", id: "m", display_name: "m", farmgate: { warm: ["a"] } }, { id: "org/other" }],
      has_more: false,
      first_id: "m",
      last_id: "org/other",
    });
    expect(await get("/v1/models?limit=1")).toMatchObject({ data: [{ id: "m" }], has_more: true, last_id: "m" });
    expect(await get("/v1/models?after_id=m")).toMatchObject({ data: [{ id: "org/other" }], has_more: false });
    expect(await get("/v1/models?before_id=org/other&limit=1")).toMatchObject({ data: [{ id: "m" }], has_more: false });
    expect(await get("/v1/models/org/other")).toMatchObject({ type: "model", id: "org/other" });
    expect(await get("/v1/models/none")).toMatchObject({ type: "error", error: { type: "not_found_error" } });
    expect(await get("/v1/models", {})).toMatchObject({ object: "list", data: [{ id: "m", object: "model" }, {}] });
    expect(await get("/v1/models/none", {})).toMatchObject({ error: { code: "model_not_found" } });
  });
});
