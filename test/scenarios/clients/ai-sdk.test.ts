import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, embedMany, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { MODELS, startMixedFarm } from "../../harness/mixed-farm.ts";
import { nothingUnderWay } from "../../harness/under-way.ts";
import { until } from "../../harness/until.ts";

const cleanup = new Cleanup();
let farm: Awaited<ReturnType<typeof startMixedFarm>>;
let provider: ReturnType<typeof createOpenAICompatible>;

beforeAll(async () => {
  farm = await startMixedFarm(cleanup);
  provider = createOpenAICompatible({ name: "farm", baseURL: `${farm.url}/v1`, includeUsage: true });
});
afterAll(() => cleanup.run());

const weather = tool({
  description: "weather",
  inputSchema: jsonSchema<{ city: string }>({
    type: "object",
    properties: { city: { type: "string", maxLength: 8 } },
    required: ["city"],
  }),
  execute: ({ city }) => `rain in ${city}`,
});

describe.each([MODELS.native, MODELS.chatOnly, MODELS.ollama])(
  "the AI SDK's OpenAI-compatible provider with %s",
  (id) => {
    it("generates text", async () => {
      const { text, usage, finishReason, response } = await generateText({ model: provider(id), prompt: "Hello" });
      expect(text).toMatch(/\S/);
      expect(usage.totalTokens).toBeGreaterThan(0);
      expect(finishReason).toBe("stop");
      expect(response.headers?.["x-request-id"]).toMatch(/^req_/);
    });

    it("streams the same text, with usage", async () => {
      const { text } = await generateText({ model: provider(id), prompt: "Hello" });
      const streamed = streamText({ model: provider(id), prompt: "Hello" });
      let gathered = "";
      for await (const piece of streamed.textStream) gathered += piece;
      expect(gathered).toBe(text);
      expect(await streamed.finishReason).toBe("stop");
      expect((await streamed.usage).totalTokens).toBeGreaterThan(0);
    });

    it("runs a tool and goes on with its result", async () => {
      const steps = streamText({
        model: provider(id),
        prompt: "What is the weather?",
        tools: { weather },
        prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? "required" : "none" }),
        stopWhen: stepCountIs(2),
      });
      const [first, second] = await steps.steps;
      expect(first?.toolResults).toMatchObject([{ toolName: "weather", output: expect.stringMatching(/^rain in /) }]);
      expect(second?.text).toMatch(/\S/);
    });

    it("leaves in the middle of a stream", async () => {
      const leaving = new AbortController();
      const before = farm.ollama.left;
      const stream = streamText({
        model: provider(id),
        prompt: id === MODELS.ollama ? "count" : "Hello",
        abortSignal: leaving.signal,
      });
      let pieces = 0;
      for await (const _ of stream.textStream) {
        pieces += 1;
        leaving.abort();
      }
      expect(pieces).toBeGreaterThan(0);
      await until(() => id !== MODELS.ollama || farm.ollama.left > before, "the worker sees it");
      await nothingUnderWay(farm.url);
    });
  },
);

describe("the AI SDK's other calls", () => {
  it("tells reasoning apart from the text, out of an Ollama's thinking", async () => {
    const { reasoningText, text } = await generateText({ model: provider(MODELS.ollama), prompt: "Hello" });
    expect({ reasoningText, text }).toEqual({ reasoningText: "Hm.", text: "Hello é漢😀" });
  });

  it("generates an object", async () => {
    const strict = createOpenAICompatible({
      name: "farm",
      baseURL: `${farm.url}/v1`,
      supportsStructuredOutputs: true,
    });
    const schema = jsonSchema<{ n: number }>({
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
    });
    const { output } = await generateText({
      model: strict(MODELS.chatOnly),
      prompt: "How many?",
      output: Output.object({ schema }),
    });
    expect(output.n).toEqual(expect.any(Number));
  });

  it.each([MODELS.embedding, MODELS.ollama])("embeds several texts with %s", async (id) => {
    const values = ["one", "two"];
    const { embeddings, usage } = await embedMany({ model: provider.embeddingModel(id), values });
    expect(embeddings).toHaveLength(2);
    expect(embeddings[0]?.length).toBeGreaterThan(1);
    expect(usage.tokens).toBeGreaterThan(0);
  });

  it.each([MODELS.native, MODELS.ollama])("completes a prompt with %s", async (id) => {
    const { text } = await generateText({ model: provider.completionModel(id), prompt: "Once" });
    expect(text).toMatch(/\S/);
  });

  it("is told what is wrong, and whether to ask again", async () => {
    const failed = async (id: string) => {
      const call = generateText({ model: provider(id), prompt: "Hello", maxRetries: 0 });
      const error: unknown = await call.catch((thrown: unknown) => thrown);
      if (!APICallError.isInstance(error)) throw new Error(`not an error of a call: ${String(error)}`);
      return { status: error.statusCode, message: error.message, again: error.isRetryable };
    };
    const message = expect.stringMatching(/nobody-has-it/) as string;
    expect(await failed("nobody-has-it")).toEqual({ status: 404, message, again: false });
    expect(await failed(MODELS.busy)).toMatchObject({ status: 503, again: true });
  });

  it("gets an error, and no finish, out of a stream that broke off", async () => {
    const errors: unknown[] = [];
    const stream = streamText({
      model: provider(MODELS.ollama),
      prompt: "break",
      onError: ({ error }) => void errors.push(error),
    });
    let text = "";
    for await (const piece of stream.textStream) text += piece;
    expect(text).toBe("Hel");
    expect(JSON.stringify(errors)).toMatch(/broke off/);
    expect(await stream.finishReason).toBe("error");
  });
});
