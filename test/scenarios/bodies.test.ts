import { createCipheriv, createHash } from "node:crypto";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cleanup } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { startTestGateway } from "../harness/gateway-farm.ts";
import { type Recorded, startRecordingEngine } from "../harness/recording-engine.ts";
import { until } from "../harness/until.ts";

/** As the worker spells it, and an alias that the owner has for it. */
const MODEL = "Org/Sees-And-Hears";
const ALIAS = "fast";

const KB = 1_024;
const MB = 1_024 * KB;
const SIZES = [KB, 100 * KB, MB, 12 * MB, 64 * MB];

const cleanup = new Cleanup();
let bare: { url: string; recorded: Recorded[] };
let behind: { url: string; recorded: Recorded[] };
let direct: string;
let throughAgent: string;

beforeAll(async () => {
  bare = await startRecordingEngine(cleanup, MODEL);
  behind = await startRecordingEngine(cleanup, MODEL);
  const [port = 0] = await freePorts(1);
  const agent = `http://127.0.0.1:${port}`;
  const engines = [{ url: behind.url, engine: "openai", poll: "200ms" }];
  await cleanup.program("agent", { name: "box", listen: { port }, engines }, agent);
  await until(async () => JSON.stringify(await (await fetch(`${agent}/catalog`)).json()).includes(MODEL), "its model");
  const models = { aliases: { [ALIAS]: MODEL } };
  direct = (await startTestGateway(cleanup, { bare: bare.url }, { models, limits: { body: "80mb" } })).url;
  throughAgent = (await startTestGateway(cleanup, { box: agent }, { models, limits: { body: "16mb" } })).url;
}, 60_000);
afterAll(() => cleanup.run());

/** A body with its model between what stands before and behind it. */
interface Sketch {
  path: string;
  type: string;
  write: (model: string) => Buffer;
}

/** Bytes of any kind, always the same ones, and nowhere the same. */
function anything(size: number): Buffer {
  return createCipheriv("aes-128-ctr", Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(size));
}

const base64 = (size: number) => anything(Math.ceil(size * 0.75)).toString("base64");

const image = (size: number) =>
  Buffer.concat([
    Buffer.from(
      '"messages" : [{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,',
    ),
    Buffer.from(base64(size)),
    Buffer.from('"}},{"type":"text","text":"\\u00bfqu\u00e9? \\"\\\\"}]}] , "temperature":1.0e0'),
  ]);
const file = (size: number) =>
  Buffer.concat([
    Buffer.from('--form\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'),
    Buffer.from("\r\n--form \r\r\n--for\r\n"),
    anything(size),
    Buffer.from("\r\n"),
  ]);
const field = (name: string, value: string) =>
  Buffer.from(`--form\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
const last = Buffer.from("--form--\r\n");

const json = { path: "/v1/chat/completions", type: "application/json" };
const form = { path: "/v1/audio/transcriptions", type: "multipart/form-data; boundary=form" };
const SKETCHES = {
  "JSON, model first": (size) => ({
    ...json,
    write: (model) => Buffer.concat([Buffer.from(`{"model":"${model}", `), image(size), Buffer.from("}")]),
  }),
  "JSON, model last": (size) => ({
    ...json,
    write: (model) => Buffer.concat([Buffer.from("{"), image(size), Buffer.from(`,"model":"${model}"}\n`)]),
  }),
  "a form, model first": (size) => ({
    ...form,
    write: (model) => Buffer.concat([field("model", model), file(size), field("language", "en"), last]),
  }),
  "a form, model last": (size) => ({
    ...form,
    write: (model) => Buffer.concat([field("language", "en"), file(size), field("model", model), last]),
  }),
} satisfies Record<string, (size: number) => Sketch>;

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

interface Sending {
  /** No Content-Length: the body goes out in chunks. */
  chunked?: boolean;
  headers?: Record<string, string>;
}

function post(url: string, type: string, body: Buffer, { chunked = false, headers = {} }: Sending = {}) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const length = chunked ? {} : { "content-length": body.length };
    const outgoing = request(url, {
      method: "POST",
      agent: false,
      headers: { "content-type": type, ...length, ...headers },
    });
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    const sendAll = () => {
      for (let at = 0; at < body.length; at += 100_000) outgoing.write(body.subarray(at, at + 100_000));
      outgoing.end();
    };
    outgoing.on("continue", sendAll);
    if (headers["expect"] === undefined) sendAll();
    else outgoing.flushHeaders();
  });
}

describe.each(Object.entries(SKETCHES))("%s", (_, sketch) => {
  it.each(SIZES)(
    "of %i bytes reaches a worker byte for byte, and with the worker's own spelling alone changed",
    async (size) => {
      const { path, type, write } = sketch(size);
      const own = write(MODEL);
      const before = bare.recorded.length;
      for (const model of [MODEL, ALIAS]) {
        expect(await post(direct + path, type, write(model))).toMatchObject({ status: 200 });
      }
      const came = bare.recorded.slice(before).map(({ bytes, sha256, path }) => ({ bytes, sha256, path }));
      const expected = { bytes: own.length, sha256: sha256(own), path };
      expect(came).toEqual([expected, expected]);
      expect(bare.recorded.at(-1)?.headers).toMatchObject({
        "content-type": type,
        "content-length": String(own.length),
      });
    },
  );

  it("reaches an engine behind an agent as it does a bare one", async () => {
    const { path, type, write } = sketch(12 * MB);
    const own = write(MODEL);
    for (const model of [MODEL, ALIAS]) {
      expect(await post(throughAgent + path, type, write(model))).toMatchObject({ status: 200 });
      expect(behind.recorded.at(-1)).toMatchObject({ bytes: own.length, sha256: sha256(own) });
    }
  });

  it("comes whole without a length, and after its sender asked first", async () => {
    const { path, type, write } = sketch(MB);
    const own = write(MODEL);
    for (const sending of [{ chunked: true }, { headers: { expect: "100-continue" } }]) {
      expect(await post(direct + path, type, own, sending)).toMatchObject({ status: 200 });
      expect(bare.recorded.at(-1)).toMatchObject({ bytes: own.length, sha256: sha256(own) });
    }
  });

  it("is refused with one byte too many, with and without a length", async () => {
    const { path, type, write } = sketch(16 * MB);
    const asked = behind.recorded.length;
    const tooMuch = write(MODEL).subarray(0, 16 * MB + 1);
    for (const chunked of [false, true]) {
      const { status, text } = await post(throughAgent + path, type, tooMuch, { chunked });
      expect({ status, code: codeIn(text) }).toEqual({ status: 413, code: "body_too_large" });
    }
    expect(behind.recorded).toHaveLength(asked);
  });
});

describe("a request that cannot be routed by its body", () => {
  const { path, type, write } = SKETCHES["a form, model last"](MB);

  it.each<[string, string, string, Buffer, RegExp]>([
    ["a form for a path that takes JSON", json.path, type, write(MODEL), /takes JSON, not a form/],
    ["JSON by another name for a path that takes forms", path, "text/plain", Buffer.from("{}"), /takes a form/],
    ["a form without its end", path, type, write(MODEL).subarray(0, -6), /last boundary is missing/],
    ["a form with two models", path, type, Buffer.concat([field("model", "a"), write(MODEL)]), /two parts `model`/],
    [
      "a form without a model",
      path,
      type,
      Buffer.concat([file(MB), last]),
      /neither the body nor the query has a `model`/,
    ],
    ["JSON broken at its start, with a megabyte behind it", json.path, json.type, anything(MB), /not a JSON object/],
  ])("is refused with 400: %s", async (_, to, contentType, body, message) => {
    const { status, text } = await post(direct + to, contentType, body);
    expect({ status, code: codeIn(text) }).toEqual({ status: 400, code: "invalid_request" });
    expect(text).toMatch(message);
  });

  it("goes where its query says, on a path that takes forms, and the form is given the model", async () => {
    const body = Buffer.concat([file(KB), last]);
    expect(await post(`${direct}${path}?model=${ALIAS}`, type, body)).toMatchObject({ status: 200 });
    const own = Buffer.concat([field("model", MODEL), body]);
    expect(bare.recorded.at(-1)).toMatchObject({ bytes: own.length, sha256: sha256(own) });
  });

  it("is passed on as JSON to a path that takes forms, said to be JSON", async () => {
    const body = Buffer.from(`{"prompt":"a cat","model":"${MODEL}"}`);
    expect(await post(`${direct}/v1/images/edits`, "application/json", body)).toMatchObject({ status: 200 });
    expect(bare.recorded.at(-1)).toMatchObject({ path: "/v1/images/edits", sha256: sha256(body) });
  });
});

function codeIn(text: string): string | undefined {
  return (JSON.parse(text) as { error?: { code?: string } }).error?.code;
}
