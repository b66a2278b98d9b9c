import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { MODELS, startMixedFarm } from "../../harness/mixed-farm.ts";

const cleanup = new Cleanup();
let farm: Awaited<ReturnType<typeof startMixedFarm>>;
let client: OpenAI;

beforeAll(async () => {
  farm = await startMixedFarm(cleanup);
  client = new OpenAI({ baseURL: `${farm.url}/v1`, apiKey: "none", logLevel: "off" });
});
afterAll(() => cleanup.run());

const messages = [{ role: "user" as const, content: "Hello" }];

describe("what goes wrong, as OpenAI's client tells it", () => {
  const failure = async (call: Promise<unknown>) => {
    const error: unknown = await call.then(
      () => new Error("it was answered"),
      (thrown: unknown) => thrown,
    );
    if (error instanceof Error) return error;
    throw new Error("no error");
  };

  it("is NotFoundError for a model that nobody has", async () => {
    const error = await failure(client.chat.completions.create({ model: "nobody-has-it", messages }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: "model_not_found", param: "model", requestID: expect.stringMatching(/^req_/) });
  });

  it.each([MODELS.native, MODELS.chatOnly, MODELS.ollama])(
    "is BadRequestError for a request that is wrong (%s)",
    async (model) => {
      const error = await failure(client.chat.completions.create({ model } as never));
      expect(error).toBeInstanceOf(BadRequestError);
    },
  );

  it("is InternalServerError for a worker that is full, with a time to wait", async () => {
    const impatient = new OpenAI({ baseURL: `${farm.url}/v1`, apiKey: "none", maxRetries: 0 });
    const error = await failure(impatient.chat.completions.create({ model: MODELS.busy, messages }));
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ status: 503, code: "queue_full" });
    expect((error as APIError).headers?.get("retry-after")).toMatch(/^\d+$/);
  });

  it("is InternalServerError for a worker that fails", async () => {
    const impatient = new OpenAI({ baseURL: `${farm.url}/v1`, apiKey: "none", maxRetries: 0 });
    const error = await failure(impatient.chat.completions.create({ model: MODELS.failing, messages }));
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ status: 502, code: "worker_failed" });
  });

  it("is InternalServerError at once for a deadline that has passed: asking again would not help", async () => {
    let asked = 0;
    const counting: typeof fetch = (...request) => {
      asked += 1;
      return fetch(...request);
    };
    const eager = new OpenAI({ baseURL: `${farm.url}/v1`, apiKey: "none", maxRetries: 2, fetch: counting });
    const headers = { "x-farmgate-deadline-ms": "1" };
    const slow = { model: MODELS.silent, messages };
    const error = await failure(eager.chat.completions.create(slow, { headers }));
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ status: 503, code: "deadline" });
    expect(asked).toBe(1);
  });

  it("is APIError out of a stream that broke off, and no finish", async () => {
    const broken = [{ role: "user" as const, content: "break" }];
    const stream = await client.chat.completions.create({ model: MODELS.ollama, messages: broken, stream: true });
    const finishes: unknown[] = [];
    const reading = async () => {
      for await (const chunk of stream) finishes.push(chunk.choices[0]?.finish_reason);
    };
    const error = await failure(reading());
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: "worker_failed" });
    expect(finishes.length).toBeGreaterThan(0);
    expect(finishes.every((finish) => finish === null)).toBe(true);
  });

  it("is an error, and no finish, for a stream of the worker's own bytes that broke off", async () => {
    const request = { model: MODELS.broken, messages, max_tokens: 50, stream: true } as const;
    const stream = await client.chat.completions.create(request);
    const finishes: unknown[] = [];
    const reading = async () => {
      for await (const chunk of stream) finishes.push(chunk.choices[0]?.finish_reason);
    };
    expect((await failure(reading())).message).not.toBe("it was answered");
    expect(finishes.every((finish) => finish === null)).toBe(true);
  });
});

describe("keys, as OpenAI's client tells of them", () => {
  const models = [MODELS.native, MODELS.ollama];
  const keys = [
    { name: "one", key: "key-of-one-123456", models, maxConcurrent: 1 },
    { name: "all", key: "key-of-all-123456" },
  ];
  let guarded = "";
  beforeAll(async () => {
    guarded = (await startMixedFarm(cleanup, { keys })).url;
  });
  const asking = (apiKey: string) => new OpenAI({ baseURL: `${guarded}/v1`, apiKey, maxRetries: 0 });

  it("is AuthenticationError without a good one", async () => {
    const error: unknown = await asking("wrong")
      .models.list()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ code: "invalid_api_key" });
  });

  it("is PermissionDeniedError for a model that is not the key's", async () => {
    const call = asking("key-of-one-123456").chat.completions.create({ model: MODELS.chatOnly, messages });
    expect(await call.catch((thrown: unknown) => thrown)).toBeInstanceOf(PermissionDeniedError);
  });

  it("is RateLimitError for more at once than the key may have", async () => {
    const one = asking("key-of-one-123456");
    const count = [{ role: "user" as const, content: "count" }];
    const stream = await one.chat.completions.create({ model: MODELS.ollama, messages: count, stream: true });
    const error: unknown = await one.chat.completions
      .create({ model: MODELS.native, messages })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ code: "rate_limited" });
    stream.controller.abort();
    expect(await asking("key-of-all-123456").chat.completions.create({ model: MODELS.native, messages })).toBeTruthy();
  });
});
