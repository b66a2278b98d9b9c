import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { type RawFarm, startRawFarm } from "../../harness/raw-farm.ts";
import { chunk, type RawRequest, STREAM_HEAD, stream, whole } from "../../harness/raw-worker.ts";
import { until } from "../../harness/until.ts";

const CHAT = "/v1/chat/completions";
const EVENT = 'data: {"choices":[{"delta":{"content":"é"}}]}\n\n';
const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\n';
const DONE = "data: [DONE]\n\n";

const cleanup = new Cleanup();
let vllm: RawFarm;
let ollama: RawFarm;
beforeAll(async () => {
  [vllm, ollama] = await Promise.all([startRawFarm(cleanup, "vllm"), startRawFarm(cleanup, "ollama")]);
});
afterAll(() => cleanup.run());

async function truncated(farm: RawFarm): Promise<number> {
  return Number(/^farmgate_streams_truncated_total\{worker="raw"\} (\d+)/m.exec(await farm.metrics())?.[1] ?? 0);
}

/** Writes this much, and breaks the connection when the caller has it. */
function breaksAfter(text: string, has: () => boolean, head: string = STREAM_HEAD) {
  return async ({ socket }: RawRequest) => {
    socket.write(Buffer.concat([Buffer.from(head), chunk(text)]));
    await until(has, "the caller has what was sent");
    socket.resetAndDestroy();
  };
}

describe("a stream that ends without [DONE]", () => {
  it.each(["chat/completions", "completions"])("is passed on as it is, and counted: %s", async (path) => {
    const before = await truncated(vllm);
    vllm.worker.answer = ({ socket }) => stream(socket, [EVENT, USAGE]);
    const answer = await vllm.ask(`/v1/${path}`).answer;
    expect(answer).toMatchObject({ status: 200, complete: true, body: EVENT + USAGE });
    await until(async () => (await truncated(vllm)) === before + 1, "it is counted");
  });

  it("is one like any other where the API has no such mark", async () => {
    const before = await truncated(vllm);
    const events = 'event: response.completed\ndata: {"type":"response.completed","response":{}}\n\n';
    vllm.worker.answer = ({ socket }) => stream(socket, [events]);
    expect((await vllm.ask("/v1/responses").answer).body).toBe(events);
    expect(await truncated(vllm)).toBe(before);
  });
});

describe("a connection that breaks inside a stream", () => {
  const NDJSON = STREAM_HEAD.replace("text/event-stream", "application/x-ndjson");
  const forms: [string, "vllm" | "ollama", string, string, RegExp][] = [
    ["chat", "vllm", CHAT, EVENT, /^data: \{"error":\{.*"code":"worker_failed"\}\}\n\n$/],
    ["completions", "vllm", "/v1/completions", EVENT, /^data: \{"error":\{.*"code":"worker_failed"\}\}\n\n$/],
    ["responses", "vllm", "/v1/responses", EVENT, /^data: \{"error":\{.*"code":"worker_failed"\}\}\n\n$/],
    ["messages", "vllm", "/v1/messages", EVENT, /^event: error\ndata: \{"type":"error","error":\{.*\}\n\n$/],
    ["Ollama's chat", "ollama", "/api/chat", '{"message":{},"done":false}\n', /^\{"error":"[^\n]*"\}\n$/],
    ["Ollama's generate", "ollama", "/api/generate", '{"response":"é","done":false}\n', /^\{"error":"[^\n]*"\}\n$/],
  ];

  it.each(forms)("is told once, in the form of %s, and nothing is made up", async (_name, which, path, piece, form) => {
    const farm = which === "vllm" ? vllm : ollama;
    const before = await truncated(farm);
    const cutOff = piece.slice(0, -3);
    for (const begun of [piece, piece + cutOff]) {
      const asked = farm.ask(path);
      const has = () => asked.received().length === Buffer.byteLength(begun);
      farm.worker.answer = breaksAfter(begun, has, which === "ollama" ? NDJSON : STREAM_HEAD);
      const { body, status, complete } = await asked.answer;
      expect([status, complete]).toEqual([200, true]);
      expect(body.startsWith(begun)).toBe(true);
      const told = body.slice(begun.length);
      const gap = begun === piece ? "" : which === "ollama" ? "\n" : "\n\n";
      expect(told.startsWith(gap)).toBe(true);
      expect(told.slice(gap.length)).toMatch(form);
      expect(told).not.toMatch(/finish_reason|\[DONE\]|"done":true|message_stop|response\.completed/);
    }
    await until(async () => (await truncated(farm)) === before + 2, "both are counted");
  });

  it("is told by a broken connection where no event of ours can follow", async () => {
    const asked = vllm.ask(CHAT);
    const has = () => asked.received().toString() === EVENT;
    const packed = STREAM_HEAD.replace("\r\n\r\n", "\r\ncontent-encoding: gzip\r\n\r\n");
    vllm.worker.answer = breaksAfter(EVENT, has, packed);
    expect(await asked.answer).toMatchObject({ status: 200, complete: false, body: EVENT });
  });

  it("is told although the stream had told its length, which the caller is not", async () => {
    const asked = vllm.ask(CHAT);
    vllm.worker.answer = async ({ socket }) => {
      socket.write(`${STREAM_HEAD.replace("transfer-encoding: chunked", "content-length: 9000")}${EVENT}`);
      await until(() => asked.received().toString() === EVENT, "the caller has the event");
      socket.resetAndDestroy();
    };
    const { body, complete, headers } = await asked.answer;
    expect([complete, headers["content-length"]]).toEqual([true, undefined]);
    expect(body.slice(EVENT.length)).toMatch(/^data: \{"error":\{.*"code":"worker_failed"\}\}\n\n$/);
  });

  it("is told also when it is closed in good form, in the middle of a chunk", async () => {
    vllm.worker.answer = ({ socket }) => void socket.end(`${STREAM_HEAD}ff\r\n${EVENT}`);
    const { body, complete } = await vllm.ask(CHAT).answer;
    expect(complete).toBe(true);
    expect(body).toContain(`${EVENT}data: {"error":`);
  });
});

describe("a connection that is lost before a byte of an answer", () => {
  it.each<[string, string]>([
    ["without a word", ""],
    ["inside its head", "HTTP/1.1 200 OK\r\ncontent-ty"],
    ["behind its head", "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n"],
    ["with what is no HTTP", "SSH-2.0-OpenSSH_9.2p1\r\n"],
    ["with two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}}"],
    [
      "with a length and chunks",
      `HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n`,
    ],
  ])("is a 502 in JSON: %s", async (_how, bytes) => {
    vllm.worker.answer = ({ socket }) => void socket.end(bytes);
    const { status, body, headers } = await vllm.ask(CHAT, { stream: false }).answer;
    expect([status, headers["content-type"]]).toEqual([502, "application/json"]);
    expect(JSON.parse(body)).toMatchObject({
      error: { code: "worker_failed", message: expect.stringContaining("raw") },
    });
  });
});

describe("an answer in an odd form of HTTP", () => {
  const JSON_BODY = `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`;
  const heads = (version: string, type: string) => `HTTP/${version} 200 OK\r\ncontent-type: ${type}\r\n`;

  it.each<[string, string, string]>([
    ["HTTP/1.0, ended by its close", `${heads("1.0", "application/json")}\r\n${JSON_BODY}`, JSON_BODY],
    ["HTTP/1.1, ended by its close", `${heads("1.1", "application/json")}\r\n${JSON_BODY}`, JSON_BODY],
    ["events of HTTP/1.0", `${heads("1.0", "text/event-stream")}\r\n${EVENT}${DONE}`, EVENT + DONE],
    ["events with a length", whole(EVENT + DONE, "content-type: text/event-stream").toString(), EVENT + DONE],
    [
      "trailers and chunk extensions",
      `${STREAM_HEAD}${chunk(EVENT, ';n="a;b"').toString()}${chunk(DONE).toString()}0\r\nx-sum: 1\r\n\r\n`,
      EVENT + DONE,
    ],
    [
      "behind answers below 200",
      `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${whole(JSON_BODY).toString()}`,
      JSON_BODY,
    ],
  ])("is passed on whole: %s", async (_form, bytes, body) => {
    vllm.worker.answer = ({ socket }) => {
      // Those with a length or chunks end by themselves; what follows would belong to nobody.
      if (/content-length|transfer-encoding/.test(bytes)) socket.write(bytes);
      else socket.end(bytes);
    };
    const answer = await vllm.ask(CHAT).answer;
    expect(answer).toMatchObject({ status: 200, complete: true, body });
    expect(answer.headers["x-sum"]).toBeUndefined();
  });

  it("is passed on that begins, and ends, before the worker has read its request", async () => {
    const prompt = "x".repeat(8 * 1_024 * 1_024);
    vllm.worker.onHead = ({ socket }) => {
      socket.pause();
      socket.write(whole(JSON_BODY));
    };
    const answer = await vllm.ask(CHAT, { stream: false, prompt }).answer;
    vllm.worker.onHead = null;
    expect(answer).toMatchObject({ status: 200, complete: true, body: JSON_BODY });
    vllm.worker.answer = ({ socket }) => stream(socket, [EVENT, DONE]);
    expect((await vllm.ask(CHAT).answer).body).toBe(EVENT + DONE);
  });
});

describe("a streamed request", () => {
  it("is counted and logged, with usage or without", async () => {
    const count = async () => {
      const metrics = await vllm.metrics();
      return Number(/farmgate_requests_total\{api="chat",model="m"[^}]*status="200"[^}]*\} (\d+)/.exec(metrics)?.[1]);
    };
    const before = await count();
    for (const pieces of [
      [EVENT, DONE],
      [EVENT, USAGE, DONE],
    ]) {
      vllm.worker.answer = ({ socket }) => stream(socket, pieces);
      await vllm.ask(CHAT, {}, { "x-request-id": `streamed-${pieces.length}` }).answer;
    }
    await until(async () => (await count()) === before + 2, "both are counted");
    const line = (id: string) =>
      vllm
        .output()
        .split("\n")
        .find((text) => text.includes(id));
    await until(() => line("streamed-3") !== undefined, "both are logged");
    expect(line("streamed-3")).toMatch(/"promptTokens":7,"completionTokens":3/);
    expect(line("streamed-2")).toContain('"status":200');
    expect(line("streamed-2")).not.toContain("Tokens");
  });
});
