import Anthropic, { APIError, UnprocessableEntityError } from "@anthropic-ai/sdk";
import { afterAll, describe, expect, it } from "vitest";
import { getJson } from "../../harness/ask.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { startTestGateway } from "../../harness/gateway-farm.ts";
import { events, json, type Script, type ScriptedChat, startScriptedChat } from "../../harness/scripted-chat.ts";

const cleanup = new Cleanup();
afterAll(() => cleanup.run());

const question = { model: "m", max_tokens: 24, messages: [{ role: "user" as const, content: "Hello?" }] };
const hello = { choices: [{ message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }] };
const usage = { prompt_tokens: 7, completion_tokens: 2 };

function delta(value: object, finish: string | null = null): object {
  return { choices: [{ index: 0, delta: value, finish_reason: finish }] };
}

interface OddFarm {
  server: ScriptedChat;
  url: string;
  /** As people have it: it tries again. */
  client: Anthropic;
}
let shared: OddFarm | null = null;

/** A farm of one server that speaks chat and is known no further. */
async function startFarm(config: Record<string, unknown> = {}): Promise<OddFarm> {
  const server = await startScriptedChat(cleanup, ["m"]);
  const workers = [{ name: "odd", url: server.url, engine: "openai" }];
  const { url } = await startTestGateway(cleanup, {}, { workers, ...config });
  return { server, url, client: new Anthropic({ baseURL: url, apiKey: "any" }) };
}

/** The farm of all these tests, whose server answers like this from now on. */
async function farmOf(answer: Script): Promise<OddFarm> {
  shared ??= await startFarm();
  shared.server.answer = answer;
  shared.server.asked.length = 0;
  return shared;
}

async function failure(promise: Promise<unknown>): Promise<InstanceType<typeof APIError>> {
  const error = await promise.catch((thrown: unknown) => thrown);
  if (error instanceof APIError) return error;
  throw new Error(`no API error: ${String(error)}`);
}

describe("the official SDK over an engine that only speaks chat", () => {
  it("gets what the model thinks, then its text", async () => {
    const thinks = events(
      delta({ role: "assistant", content: "" }),
      delta({ reasoning_content: "Who " }),
      delta({ reasoning_content: "asks?" }),
      delta({ content: "Hel" }),
      delta({ content: "lo" }, "stop"),
      { choices: [], usage },
      "[DONE]",
    );
    const { client } = await farmOf(thinks);
    const stream = client.messages.stream({ ...question, thinking: { type: "enabled", budget_tokens: 1_024 } });
    const thoughts: string[] = [];
    stream.on("thinking", (piece) => thoughts.push(piece));
    const message = await stream.finalMessage();
    expect(thoughts).toEqual(["Who ", "asks?"]);
    expect(message.content).toEqual([
      { type: "thinking", thinking: "Who asks?", signature: "" },
      { type: "text", text: "Hello" },
    ]);
    expect(message.usage).toMatchObject({ input_tokens: 7, output_tokens: 2 });
  });

  it("gets calls whose pieces come mixed, one after the other", async () => {
    const piece = (index: number, args: string, more: object = {}, name?: string) =>
      delta({ tool_calls: [{ index, ...more, function: { name, arguments: args } }] });
    const { client } = await farmOf(
      events(
        piece(0, '{"city":', { id: "c0", type: "function" }, "look"),
        piece(1, '{"city"', { id: "c1", type: "function" }, "look"),
        piece(0, '"Bern"}'),
        piece(1, ':"Ulm"}'),
        delta({}, "tool_calls"),
        "[DONE]",
      ),
    );
    const message = await client.messages.stream(question).finalMessage();
    expect(message.content).toEqual([
      { type: "tool_use", id: "c0", name: "look", input: { city: "Bern" } },
      { type: "tool_use", id: "c1", name: "look", input: { city: "Ulm" } },
    ]);
    expect(message.stop_reason).toBe("tool_use");
  });

  it("gets a stream from one that does not stream", async () => {
    const { client } = await farmOf((_asked, response) => json(200, { ...hello, usage })(response));
    const message = await client.messages.stream(question).finalMessage();
    expect([message.content, message.stop_reason]).toEqual([[{ type: "text", text: "Hello" }], "end_turn"]);
  });

  it("gets no stream from one that always streams, but an error", async () => {
    const { client, server } = await farmOf(events(delta({ content: "x" }, "stop"), "[DONE]"));
    expect((await failure(client.messages.create(question, { maxRetries: 0 }))).status).toBe(502);
    expect(server.asked).toHaveLength(1);
  });

  it("gets a whole answer from one that is done without saying why", async () => {
    const { client } = await farmOf(events(delta({ content: "Hel" }), delta({ content: "lo" }), "[DONE]"));
    const message = await client.messages.stream(question).finalMessage();
    expect([message.content, message.stop_reason]).toEqual([[{ type: "text", text: "Hello" }], "end_turn"]);
  });

  it.each([
    ["ends without its end", [delta({ content: "Hel" })], /broke off/],
    ["tells an error", [delta({ content: "Hel" }), { error: { message: "out of memory" } }], /out of memory/],
  ])("is told of a stream that %s", async (_, chunks, message) => {
    const { client } = await farmOf(events(...chunks));
    const stream = client.messages.stream(question);
    const texts: string[] = [];
    stream.on("text", (text) => texts.push(text));
    const error = await failure(stream.finalMessage());
    expect(error.type).toBe("api_error");
    expect(error.message).toMatch(message);
    expect(texts).toEqual(["Hel"]);
  });

  it("is told of an error while the stream goes on, and the worker is left", async () => {
    let left = false;
    const { client } = await farmOf((_asked, response) => {
      response.on("close", () => {
        left = true;
      });
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"error":{"message":"lost"}}\n\n');
    });
    expect((await failure(client.messages.stream(question).finalMessage())).message).toMatch(/lost/);
    await expect.poll(() => left, { timeout: 60_000 }).toBe(true);
  });

  it("is served by one that refuses to be asked for usage", async () => {
    const { client, server, url } = await farmOf((asked, response) => {
      if (asked.body["stream_options"] === undefined) {
        return events(delta({ content: "Hello" }, "stop"), "[DONE]")(asked, response);
      }
      json(400, { error: { message: "Unrecognized request argument supplied: stream_options" } })(response);
    });
    const message = await client.messages.stream(question).finalMessage();
    expect(message.content).toEqual([{ type: "text", text: "Hello" }]);
    expect(server.asked.map(({ body }) => body["stream_options"])).toEqual([{ include_usage: true }, undefined]);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('farmgate_retries_total{reason="usage_refused"} 1');
  });

  it("is told that nobody counts, which is nobody's fault", async () => {
    const { client, url } = await farmOf((_asked, response) => json(200, hello)(response));
    const { max_tokens: _none, ...counted } = question;
    for (let i = 0; i < 8; i += 1) {
      const error = await failure(client.messages.countTokens(counted));
      expect([error.status, error.headers?.get("x-should-retry")]).toEqual([501, "false"]);
      expect(error.message).toMatch(/does not tell how many tokens/);
    }
    expect((await client.messages.create(question)).content).toEqual([{ type: "text", text: "Hello" }]);
    const workers = await getJson<unknown>(`${url}/farm/workers`);
    expect(JSON.stringify(workers)).toContain('"state":"healthy"');
  });

  it("is told in its own words what the worker refuses", async () => {
    const { client, server } = await farmOf((_asked, response) =>
      json(422, { object: "error", message: "temperature too high", type: "BadRequestError", code: 422 })(response),
    );
    const error = await failure(client.messages.create(question));
    expect(error).toBeInstanceOf(UnprocessableEntityError);
    expect(error.error).toMatchObject({
      type: "error",
      error: { type: "invalid_request_error", message: "temperature too high" },
      request_id: error.requestID,
    });
    expect(server.asked).toHaveLength(1);
  });

  it("is told what no worker here can do, and asks once", async () => {
    const { client, server } = await farmOf((_asked, response) => json(200, hello)(response));
    const source = { type: "base64" as const, media_type: "application/pdf" as const, data: "JVBE" };
    const content = [{ type: "document" as const, source }];
    const error = await failure(client.messages.create({ ...question, messages: [{ role: "user", content }] }));
    expect(error.status).toBe(501);
    expect(error.message).toMatch(/PDF/);
    expect(server.asked).toHaveLength(0);
  });

  it("does not ask again for an answer that never came", async () => {
    const { client, server } = await startFarm({ timeouts: { firstByte: "300ms" } });
    server.answer = () => {};
    const error = await failure(client.messages.create(question));
    expect([error.status, error.type, error.headers?.get("x-should-retry")]).toEqual([504, "timeout_error", "false"]);
    expect(server.asked).toHaveLength(1);
  });
});
