import { createHash } from "node:crypto";
import { engineOptionsSchema, startEngine } from "@farmgate/simulator";
import { createSystemClock } from "@farmgate/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type KindsEngine, startAllKindsFarm } from "../harness/all-kinds-farm.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestGateway } from "../harness/gateway-farm.ts";

const cleanup = new Cleanup();
let farm: Awaited<ReturnType<typeof startAllKindsFarm>>;

beforeAll(async () => {
  farm = await startAllKindsFarm(cleanup);
}, 60_000);
afterAll(() => cleanup.run());

type Kind = "talk" | "emb" | "rank" | "sound" | "draw";
type Parts = Record<string, string | Blob>;

interface Path {
  path: string;
  kind: Kind;
  /** Of the request, without its model. */
  json?: object;
  form?: Parts;
  type: RegExp;
  /** In the answer. */
  holds: string;
}

const messages = [{ role: "user", content: "Say hi." }];
const file = new Blob([Buffer.alloc(5_000, "sound")]);
const JSON_TYPE = /^application\/json/;
const EVENTS = /^text\/event-stream/;

const PATHS: Path[] = [
  {
    path: "/v1/chat/completions",
    kind: "talk",
    json: { messages, max_tokens: 5 },
    type: JSON_TYPE,
    holds: '"choices"',
  },
  { path: "/v1/chat/completions", kind: "talk", json: { messages, stream: true }, type: EVENTS, holds: "data: [DONE]" },
  { path: "/v1/completions", kind: "talk", json: { prompt: "a", max_tokens: 5 }, type: JSON_TYPE, holds: "text_compl" },
  { path: "/v1/responses", kind: "talk", json: { input: "Hi" }, type: JSON_TYPE, holds: '"output"' },
  { path: "/v1/messages", kind: "talk", json: { messages, max_tokens: 5 }, type: JSON_TYPE, holds: '"type":"message"' },
  { path: "/v1/messages/count_tokens", kind: "talk", json: { messages }, type: JSON_TYPE, holds: '"input_tokens":' },
  { path: "/v1/embeddings", kind: "emb", json: { input: "a" }, type: JSON_TYPE, holds: '"embedding"' },
  {
    path: "/v1/rerank",
    kind: "rank",
    json: { query: "a", documents: ["a", "b"] },
    type: JSON_TYPE,
    holds: "relevance",
  },
  { path: "/v1/audio/speech", kind: "sound", json: { input: "Hi", voice: "x" }, type: /^audio\/wav/, holds: "WAVEfmt" },
  {
    path: "/v1/audio/speech",
    kind: "sound",
    json: { input: "Hi there", voice: "x", stream_format: "sse" },
    type: EVENTS,
    holds: "speech.audio.done",
  },
  { path: "/v1/audio/transcriptions", kind: "sound", form: { file }, type: JSON_TYPE, holds: '{"text":"' },
  {
    path: "/v1/audio/transcriptions",
    kind: "sound",
    form: { file, response_format: "text" },
    type: /^text\/plain/,
    holds: "\n",
  },
  { path: "/v1/audio/transcriptions", kind: "sound", form: { file, stream: "true" }, type: EVENTS, holds: "text.done" },
  { path: "/v1/audio/translations", kind: "sound", form: { file }, type: JSON_TYPE, holds: '{"text":"' },
  { path: "/v1/images/generations", kind: "draw", json: { prompt: "a" }, type: JSON_TYPE, holds: '"b64_json":"iVBOR' },
  { path: "/v1/images/edits", kind: "draw", form: { prompt: "a", image: file }, type: JSON_TYPE, holds: "iVBOR" },
  { path: "/v1/images/variations", kind: "draw", form: { image: file }, type: JSON_TYPE, holds: "iVBOR" },
  { path: "/completion", kind: "talk", json: { prompt: "a", n_predict: 3 }, type: JSON_TYPE, holds: '"stop":true' },
  { path: "/completion", kind: "talk", json: { prompt: "a", stream: true }, type: EVENTS, holds: '"stop":true' },
  {
    path: "/infill",
    kind: "talk",
    json: { input_prefix: "a", input_suffix: "b" },
    type: JSON_TYPE,
    holds: '"content"',
  },
  { path: "/tokenize", kind: "talk", json: { content: "héllo" }, type: JSON_TYPE, holds: '{"tokens":[' },
  { path: "/detokenize", kind: "talk", json: { tokens: [16_777_313] }, type: JSON_TYPE, holds: '{"content":"a"}' },
  { path: "/apply-template", kind: "talk", json: { messages }, type: JSON_TYPE, holds: '{"prompt":"' },
];

async function post(url: string, { json, form }: Pick<Path, "json" | "form">, model: string) {
  const body = form === undefined ? JSON.stringify({ ...json, model }) : formOf({ ...form, model });
  const headers = form === undefined ? { "content-type": "application/json" } : undefined;
  const answer = await fetch(url, { method: "POST", body, ...(headers && { headers }) });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, headers: answer.headers, bytes, text: bytes.toString("latin1") };
}

function formOf(parts: Parts): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts)) form.append(name, value);
  return form;
}

const named = PATHS.map((path) => [`${path.path} (${path.type.source.replaceAll(/[^\w/-]/g, "")})`, path] as const);

describe.each([
  ["bare", "b", () => farm.bare],
  ["box", "x", () => farm.attached],
] as const)("through the gateway to %s", (worker, letter, engineOf: () => KindsEngine) => {
  test.each(named)("%s", async (_, { path, kind, type, holds, ...body }) => {
    const { engine, seen } = engineOf();
    const model = `${letter}-${kind}`;
    const direct = await post(engine.url + path, body, model);
    expect(direct.status).toBe(200);
    const before = seen.length;
    const answer = await post(farm.url + path, body, model);
    expect({ status: answer.status, worker: answer.headers.get("x-farmgate-worker") }).toEqual({ status: 200, worker });
    expect(answer.headers.get("content-type")).toMatch(type);
    expect(answer.headers.get("content-type")).toBe(direct.headers.get("content-type"));
    expect(answer.text).toContain(holds);
    expect(seen.slice(before).map(({ url }) => url)).toEqual([path]);
    // What is the same each time is the same behind a gateway, byte for byte.
    const isFixed = kind === "sound" || kind === "emb" || path === "/tokenize";
    expect(isFixed ? sha256(answer.bytes) : "").toBe(isFixed ? sha256(direct.bytes) : "");
  });
});

describe("what no worker can serve", () => {
  test.each([
    [
      "/v1/audio/speech",
      "b-talk",
      /No worker serves speech with the model "b-talk" \(bare: llama-server speaks chat, /,
    ],
    ["/v1/audio/speech", "x-talk", /\(box: it serves chat, completions, .*apply-template with it\)/],
    [
      "/v1/chat/completions",
      "b-sound",
      /serves chat .*\(bare: it serves speech, transcriptions, translations, realtime/,
    ],
    ["/infill", "x-draw", /serves infill .*\(box: it serves image-generations, image-edits, image-variations with it/],
  ])("%s with %s is told to be so, and its engine does not hear of it", async (path, model, message) => {
    const { seen } = model.startsWith("b-") ? farm.bare : farm.attached;
    const before = seen.length;
    const answer = await post(farm.url + path, { json: { messages, input: "x" } }, model);
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text)).toMatchObject({
      error: { code: "model_not_found", message: expect.stringMatching(message) },
    });
    expect(seen.length).toBe(before);
  });

  test("has the shape of the caller's API", async () => {
    const anthropic = await post(`${farm.url}/v1/messages`, { json: { messages, max_tokens: 5 } }, "b-draw");
    expect(anthropic.status).toBe(404);
    expect(JSON.parse(anthropic.text)).toMatchObject({ type: "error", error: { type: "not_found_error" } });
    const ollama = await post(`${farm.url}/api/chat`, { json: { messages } }, "b-draw");
    expect(ollama.status).toBe(404);
    expect(JSON.parse(ollama.text)).toEqual({ error: expect.stringContaining("serves ollama-chat with") });
  });

  test("an agent refuses on its own, before anything is loaded for it", async () => {
    const before = farm.attached.seen.length;
    const refused = await post(`${farm.agentUrl}/v1/audio/speech`, { json: { input: "x" } }, "x-talk");
    expect(refused.status).toBe(501);
    expect(JSON.parse(refused.text)).toMatchObject({
      error: { code: "not_supported", message: expect.stringContaining("x-talk is not served as speech") },
    });
    const native = await post(`${farm.agentUrl}/api/embed`, { json: { input: "x" } }, "x-emb");
    expect(native.status).toBe(501);
    expect(JSON.parse(native.text)).toEqual({ error: expect.stringContaining("not served as ollama-embed") });
    expect(farm.attached.seen.length).toBe(before);
  });

  test("is explained for each worker", async () => {
    const answer = await fetch(`${farm.url}/farm/explain`, {
      method: "POST",
      body: JSON.stringify({ model: "b-talk", api: "speech" }),
    });
    const { decision, out } = (await answer.json()) as { decision: object; out: { worker: string; reason: string }[] };
    expect(decision).toMatchObject({ kind: "none", code: "model_not_found" });
    expect(out).toContainEqual({
      worker: "bare",
      reason: expect.stringMatching(/^does not serve speech with it: llama-server speaks chat, completions, /),
    });
  });
});

test("sound sent in a chat to a model that cannot hear is the engine's to refuse, in its own words", async () => {
  const content = [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }];
  await farm.bare.engine.setFail(["status-400@b-talk:1"]);
  const body = { json: { messages: [{ role: "user", content }] } };
  const direct = await post(`${farm.bare.engine.url}/v1/chat/completions`, body, "b-talk");
  await farm.bare.engine.setFail(["status-400@b-talk:1"]);
  const answer = await post(`${farm.url}/v1/chat/completions`, body, "b-talk");
  expect(answer).toMatchObject({ status: 400, text: direct.text });
  expect(answer.headers.get("x-farmgate-worker")).toBe("bare");
});

describe("a request that names its model elsewhere, or not at all", () => {
  const ask = async (url: string, body: Pick<Path, "json" | "form">) => {
    const init = body.form === undefined ? JSON.stringify(body.json) : formOf(body.form);
    const answer = await fetch(url, { method: "POST", body: init });
    return { status: answer.status, worker: answer.headers.get("x-farmgate-worker"), text: await answer.text() };
  };
  const infill = { json: { input_prefix: "a", input_suffix: "b" } };

  test("goes where its query says, with a form and on llama.cpp's own paths", async () => {
    const sound = await ask(`${farm.url}/v1/audio/transcriptions?model=x-sound`, { form: { file } });
    expect(sound).toMatchObject({ status: 200, worker: "box" });
    expect(await ask(`${farm.url}/infill?model=b-talk`, infill)).toMatchObject({ status: 200, worker: "bare" });
    expect(await ask(`${farm.agentUrl}/infill?model=x-talk`, infill)).toMatchObject({ status: 200 });
    expect(await ask(`${farm.url}/v1/chat/completions?model=b-talk`, { json: { messages } })).toMatchObject({
      status: 400,
      text: expect.stringContaining("the body has no `model`"),
    });
  });

  test("is told which models it may mean on llama.cpp's own paths", async () => {
    for (const [url, names] of [
      [farm.url, '"b-emb", "b-rank", "b-talk", "x-emb", "x-rank", "x-talk"'],
      [farm.agentUrl, '"x-talk", "x-emb", "x-rank"'],
    ]) {
      const { status, text } = await ask(`${url}/infill`, infill);
      expect(status).toBe(400);
      expect(JSON.parse(text)).toMatchObject({
        error: { code: "invalid_request", message: expect.stringContaining(`several can be asked so: ${names}.`) },
      });
    }
  });

  test("gets the only one there is, and the worker is told its name", async () => {
    const seen: Buffer[] = [];
    const options = engineOptionsSchema.parse({ listen: { port: 0 }, models: [{ name: "Code:7B", loaded: true }] });
    const onRequest = (request: { method: string; body: Buffer }) => {
      if (request.method === "POST") seen.push(request.body);
    };
    const engine = await startEngine(options, { clock: createSystemClock(), onRequest });
    cleanup.add(engine, (running) => running.close());
    const { url } = await startTestGateway(cleanup, { one: engine.url });
    expect(await ask(`${url}/tokenize`, { json: { content: "a" } })).toMatchObject({ status: 200, worker: "one" });
    expect(seen.map(String)).toEqual(['{"model":"Code:7B","content":"a"}']);
  });
});

describe("methods", () => {
  test.each([...new Set(PATHS.map(({ path }) => path))])("%s takes POST alone, and OPTIONS", async (path) => {
    for (const url of [farm.url, farm.agentUrl]) {
      for (const method of ["GET", "PUT", "DELETE"]) {
        const answer = await fetch(url + path, { method });
        expect(answer.status).toBe(405);
        expect(answer.headers.get("allow")).toBe("POST");
        await answer.arrayBuffer();
      }
    }
    expect((await fetch(farm.url + path, { method: "OPTIONS" })).status).toBe(204);
  });

  test.each(["/", "/health", "/livez", "/readyz", "/metrics", "/v1/models", "/v1/models/b-talk", "/farm/workers"])(
    "HEAD %s is GET without a body",
    async (path) => {
      const [head, get] = await Promise.all(["HEAD", "GET"].map((method) => fetch(farm.url + path, { method })));
      expect(head?.status).toBe(get?.status);
      expect(head?.headers.get("content-type")).toBe(get?.headers.get("content-type"));
      expect(await head?.text()).toBe("");
    },
  );
});

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
