import { parseJson } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { type Answer, fakeWorker, refuses } from "../support/fake-worker.ts";
import { agents, runGateway } from "../support/gateway.ts";

const CHUNKS = ["Hel", "lo"].map(
  (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`,
);
const FINISH =
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n';
const NATIVE = '{"model":"m","message":{"role":"assistant","content":"Hello"},"done":false}\n';
const NATIVE_LAST =
  '{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":5,"prompt_eval_count":4,"eval_count":6}\n';

interface Line {
  done?: boolean;
  error?: string;
  message?: { content: string };
}

/** Sends these pieces, and then ends its answer or breaks the connection. */
function sends(type: string, pieces: readonly string[], end: "whole" | "breaks" = "whole"): Answer {
  return ({ response }) => {
    response.writeHead(200, { "content-type": type });
    for (const piece of pieces) response.write(piece);
    if (end === "whole") response.end();
    else setImmediate(() => response.socket?.resetAndDestroy());
  };
}

async function farm(answer: Answer, apis: string[]) {
  const worker = await fakeWorker({ m: "warm" }, answer);
  worker.more.model = { apis };
  const gateway = await runGateway({ workers: agents({ a: worker }), health: { interval: "10s", timeout: "1s" } });
  return { worker, gateway };
}

async function ask(gateway: RunningGateway, body: Record<string, unknown> = {}, path = "/api/chat") {
  const messages = [{ role: "user", content: "Hi" }];
  const response = await fetch(gateway.url + path, {
    method: "POST",
    body: JSON.stringify({ model: "m", messages, ...body }),
  });
  const text = await response.text();
  // The package passes over what is no JSON: a line that broke off.
  const lines = text.split("\n").flatMap((line) => (parseJson(line) as Line | undefined) ?? []);
  return { status: response.status, headers: response.headers, text, lines };
}

const metrics = async (gateway: RunningGateway) => (await fetch(`${gateway.url}/metrics`)).text();

describe("a caller of Ollama's API", () => {
  it("gets lines of a worker that streams events, and its tokens are counted", async () => {
    const { gateway, worker } = await farm(sends("text/event-stream", [...CHUNKS, FINISH, "data: [DONE]\n\n"]), [
      "chat",
    ]);
    const { status, headers, lines } = await ask(gateway);
    expect([status, headers.get("content-type")]).toEqual([200, "application/x-ndjson"]);
    expect(headers.get("x-farmgate-worker")).toBe("a");
    expect(lines.map((line) => line.message?.content)).toEqual(["Hel", "lo", ""]);
    expect(lines.at(-1)).toMatchObject({ done: true, done_reason: "stop", prompt_eval_count: 3, eval_count: 2 });
    expect(worker.request(0).path).toBe("/v1/chat/completions");
    const text = await metrics(gateway);
    expect(text).toContain('farmgate_tokens_total{model="m",worker="a",direction="completion"} 2');
    expect(text).toContain('api="ollama-chat"');
    expect(text).not.toMatch(/farmgate_streams_truncated_total\{/);
  });

  it.each([
    ["ends too early", sends("text/event-stream", [CHUNKS[0] ?? ""])],
    ["breaks", sends("text/event-stream", [CHUNKS[0] ?? ""], "breaks")],
    ["tells an error", sends("text/event-stream", [CHUNKS[0] ?? "", 'data: {"error":{"message":"CUDA"}}\n\n', FINISH])],
  ])("is told in a line of its own when a worker %s", async (_what, answer) => {
    const { gateway } = await farm(answer, ["chat"]);
    const { status, lines } = await ask(gateway);
    expect(status).toBe(200);
    expect(lines).toEqual([
      expect.objectContaining({ done: false }),
      { error: expect.stringMatching(/^Worker "a" broke off in the middle/) },
    ]);
    expect(await metrics(gateway)).toContain('farmgate_streams_truncated_total{worker="a"} 1');
  });

  it("is told before a stream in the shape and with the status of its API", async () => {
    const openai = { error: { message: "too long", type: "invalid_request_error", code: "context_length_exceeded" } };
    const { gateway, worker } = await farm(refuses(400, openai), ["chat"]);
    expect(await ask(gateway)).toMatchObject({ status: 400, text: '{"error":"too long"}' });
    worker.answer = refuses(500, { error: { message: "no memory" } });
    expect(await ask(gateway)).toMatchObject({ status: 502, text: expect.stringMatching(/^\{"error":".*no memory/) });
    worker.answer = sends("application/json", ["<html>"]);
    expect(await ask(gateway)).toMatchObject({ status: 502, text: expect.stringMatching(/^\{"error":"/) });
    expect(await ask(gateway, { model: "n" })).toMatchObject({
      status: 404,
      text: expect.stringMatching(/model not found/),
    });
    expect(await ask(gateway, { format: "yaml" })).toMatchObject({
      status: 400,
      text: expect.stringMatching(/`format`/),
    });
  });

  it("gets a stream of a worker that answers whole, and the other way about", async () => {
    const whole = { choices: [{ message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }] };
    const { gateway, worker } = await farm(sends("application/json", [JSON.stringify(whole)]), ["chat"]);
    expect((await ask(gateway)).lines.map((line) => [line.done, line.message?.content])).toEqual([
      [false, "Hello"],
      [true, ""],
    ]);
    const { headers, lines } = await ask(gateway, { stream: false });
    expect(headers.get("content-type")).toBe("application/json");
    expect(lines).toMatchObject([{ done: true, message: { content: "Hello" } }]);
    expect(JSON.parse(worker.request(1).body)).toMatchObject({ stream: false });
  });

  it("gets a native worker's bytes as they are, and its tokens are counted", async () => {
    const { gateway, worker } = await farm(sends("application/x-ndjson", [NATIVE, NATIVE_LAST]), [
      "ollama-chat",
      "chat",
    ]);
    const { text } = await ask(gateway);
    expect(text).toBe(NATIVE + NATIVE_LAST);
    expect(worker.request(0).path).toBe("/api/chat");
    const counted = await metrics(gateway);
    expect(counted).toContain('farmgate_tokens_total{model="m",worker="a",direction="prompt"} 4');
    expect(counted).toContain('farmgate_tokens_total{model="m",worker="a",direction="completion"} 6');
    expect(counted).not.toMatch(/farmgate_streams_truncated_total\{/);
  });

  it("is told in a line of its own when a native stream breaks; one that ends too early is counted", async () => {
    const { gateway, worker } = await farm(sends("application/x-ndjson", [NATIVE, NATIVE.slice(0, 30)], "breaks"), [
      "ollama-chat",
    ]);
    const broken = (await ask(gateway)).text.split("\n");
    expect(broken.slice(0, 2)).toEqual([NATIVE.trim(), NATIVE.slice(0, 30)]);
    expect(JSON.parse(broken[2] ?? "")).toEqual({ error: expect.stringContaining("broke off") });
    worker.answer = sends("application/x-ndjson", [NATIVE]);
    expect((await ask(gateway)).text).toBe(NATIVE);
    expect(await metrics(gateway)).toContain('farmgate_streams_truncated_total{worker="a"} 2');
  });

  it("fills in between two texts with llama.cpp's own API", async () => {
    const events = [
      '{"content":"x, ","stop":false}',
      '{"content":"y","stop":true,"stop_type":"eos","tokens_evaluated":5}',
    ];
    const pieces = events.map((event) => `data: ${event}\n\n`);
    const { gateway, worker } = await farm(sends("text/event-stream", pieces), ["chat", "completions", "infill"]);
    const { lines } = await ask(gateway, { prompt: "f(", suffix: ")" }, "/api/generate");
    expect(lines).toMatchObject([
      { response: "x, ", done: false },
      { response: "y", done: false },
      { response: "", done: true, done_reason: "stop", prompt_eval_count: 5 },
    ]);
    expect(worker.request(0).path).toBe("/infill");
    expect(JSON.parse(worker.request(0).body)).toMatchObject({ model: "m", input_prefix: "f(", input_suffix: ")" });
  });

  it("gets what a worker lacks of its API by another way, and that is remembered", async () => {
    const { gateway, worker } = await farm(
      (asked) =>
        asked.path === "/api/chat"
          ? refuses(404, "404 page not found")(asked)
          : sends("text/event-stream", [...CHUNKS, FINISH, "data: [DONE]\n\n"])(asked),
      ["ollama-chat", "chat"],
    );
    for (let i = 0; i < 2; i += 1) expect((await ask(gateway)).lines.at(-1)).toMatchObject({ done: true });
    expect(worker.asked.map(({ path }) => path)).toEqual(["/api/chat", "/v1/chat/completions", "/v1/chat/completions"]);
  });

  it("is refused what no worker with the model can do, in words that say what is missing", async () => {
    const { gateway, worker } = await farm(refuses(500, {}), ["chat"]);
    const raw = await ask(gateway, { prompt: "Hi", raw: true }, "/api/generate");
    expect(raw).toMatchObject({ status: 501, text: expect.stringMatching(/raw prompt/) });
    expect(worker.asked).toEqual([]);
    const embed = await ask(gateway, { input: "Hi" }, "/api/embed");
    expect(embed).toMatchObject({ status: 404, text: expect.stringMatching(/No worker serves ollama-embed/) });
  });
});
