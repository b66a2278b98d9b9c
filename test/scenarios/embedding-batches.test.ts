import type { RunningEngine } from "@farmgate/simulator";
import { afterEach, describe, expect, it } from "vitest";
import { ask } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestEngine, startTestGateway } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A generous window: on a busy machine forty connections do not come within a few milliseconds. */
const ON = { embeddings: { batchWindow: "200ms" } };
/** All that a test sends at once is one batch. */
const LONG = { embeddings: { batchWindow: "700ms" } };
const MODEL = { name: "embed", kind: "embedding", loaded: true } as const;

interface Embeddings {
  data: { embedding: number[] | string; index: number }[];
  model: string;
  usage: { prompt_tokens: number; total_tokens: number };
}

/** An engine, and the bodies of the embedding requests that it got. */
async function startEmbedder(options: Parameters<typeof startTestEngine>[1] = {}, model: object = {}) {
  const bodies: Record<string, unknown>[] = [];
  const engine = await startTestEngine(cleanup, { models: [{ ...MODEL, ...model }], ...options }, ({ url, body }) => {
    if (url === "/v1/embeddings") bodies.push(JSON.parse(String(body)) as Record<string, unknown>);
  });
  return { engine, bodies };
}

const embed = (url: string, input: unknown, more: object = {}) =>
  ask(`${url}/v1/embeddings`, { model: "embed", input, ...more });

const read = ({ body }: { body: string }) => JSON.parse(body) as Embeddings;
const texts = (count: number) => Array.from({ length: count }, (_, i) => `${"word ".repeat(i % 9)}number ${i}`);

describe("small embedding calls that come together", () => {
  it("are a few calls upstream, and each caller gets the vector that it gets alone", async () => {
    const { engine, bodies } = await startEmbedder();
    const joined = await startTestGateway(cleanup, { box: engine.url }, ON);
    const wants = [{}, { encoding_format: "base64" }, { dimensions: 12 }, { encoding_format: "base64", dimensions: 3 }];
    for (const more of wants) {
      bodies.length = 0;
      const inputs = texts(40);
      const answers = await Promise.all(inputs.map((input) => embed(joined.url, input, more).answer));
      const calls = bodies.length;
      console.log(`40 embedding calls ${JSON.stringify(more)}: ${calls} upstream`);
      expect(calls).toBeLessThan(20);
      let tokens = 0;
      for (const [i, answer] of answers.entries()) {
        expect([answer.status, answer.headers["x-farmgate-worker"]]).toEqual([200, "box"]);
        const alone = await ask(`${engine.url}/v1/embeddings`, { model: "embed", input: inputs[i], ...more }).answer;
        const { usage, ...same } = read(alone);
        expect(read(answer)).toMatchObject(same);
        expect(read(answer).data).toHaveLength(1);
        tokens += usage.prompt_tokens - read(answer).usage.prompt_tokens;
        expect(read(answer).usage.total_tokens).toBe(read(answer).usage.prompt_tokens);
      }
      expect(tokens).toBe(0);
    }
  });

  it("keep lists whole and in order, and token ids apart from texts", async () => {
    const { engine, bodies } = await startEmbedder();
    const { url } = await startTestGateway(cleanup, { box: engine.url }, LONG);
    const inputs = [["a", "b", "c"], "d", ["e"], [5, 6, 7], [[8], [9, 10]], ["f", "g"]];
    const answers = await Promise.all(inputs.map((input) => embed(url, input).answer));
    expect(bodies.length).toBeLessThan(inputs.length);
    for (const { input } of bodies as { input: unknown[] }[]) {
      expect(new Set(input.map((one) => typeof one)).size).toBe(1);
    }
    for (const [i, answer] of answers.entries()) {
      const alone = await ask(`${engine.url}/v1/embeddings`, { model: "embed", input: inputs[i] }).answer;
      expect(read(answer).data).toEqual(read(alone).data);
    }
  });

  it("do not suffer for one of them that the engine refuses", async () => {
    const { engine, bodies } = await startEmbedder({}, { contextLength: 16 });
    const { url } = await startTestGateway(cleanup, { box: engine.url }, LONG);
    const inputs = [...texts(5), "far too long ".repeat(40)];
    const answers = await Promise.all(inputs.map((input) => embed(url, input).answer));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 500]);
    expect(answers[5]?.body).toContain("too large to process");
    expect(bodies.length).toBeGreaterThan(inputs.length);
  });

  it("go on when one caller leaves, and end when all have", async () => {
    const { engine } = await startEmbedder({ promptTokensPerSecond: 30 });
    const { url } = await startTestGateway(cleanup, { box: engine.url }, LONG);
    const first = texts(5).map((input) => embed(url, input));
    await until(() => engine.stats.active > 0, "they are asked");
    first[2]?.leave();
    const answers = await Promise.all(first.map(({ answer }) => answer));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 0, 200, 200]);
    expect(engine.stats).toMatchObject({ served: 1, left: 0 });
    const second = texts(5).map((input) => embed(url, `again ${input}`));
    await until(() => engine.stats.active > 0, "they are asked");
    for (const { leave } of second) leave();
    await engine.waitFor(({ left, active }) => left === 1 && active === 0);
  });

  it("are all served elsewhere when their engine ends, or told so when there is no other", async () => {
    const slow = await startEmbedder({ promptTokensPerSecond: 5 });
    const { url } = await startTestGateway(cleanup, { box: slow.engine.url }, { ...LONG, health: { interval: "10s" } });
    const asked = texts(6).map((input) => embed(url, input).answer);
    await until(() => slow.engine.stats.active > 0, "they are asked");
    await slow.engine.setFail(["refuse"]);
    const failed = await Promise.all(asked);
    expect(new Set(failed.map(({ status }) => status))).toEqual(new Set([502]));
    for (const { body } of failed) expect(JSON.parse(body)).toMatchObject({ error: { code: "worker_failed" } });

    await slow.engine.setFail([]);
    const quick = await startEmbedder();
    const workers = { slow: slow.engine.url, quick: quick.engine.url };
    const two = await startTestGateway(cleanup, workers, { ...ON, health: { interval: "10s" } });
    const both = [slow.engine, quick.engine];
    const answers: Promise<{ status: number; body: string }>[] = [];
    // Turns are taken at a tie: one of the first two batches goes to the slow one.
    for (let round = 0; round < 2 && slow.engine.stats.active === 0; round += 1) {
      const before = servedBy(both);
      answers.push(...texts(6).map((input) => embed(two.url, input).answer));
      await until(() => slow.engine.stats.active > 0 || servedBy(both) > before, "they are asked");
    }
    await until(() => slow.engine.stats.active > 0, "the slow one is asked");
    await slow.engine.setFail(["refuse"]);
    for (const answer of await Promise.all(answers)) {
      expect(answer.status).toBe(200);
      expect(read(answer).data).toHaveLength(1);
    }
  });

  it("count as one at the worker", async () => {
    const { engine } = await startEmbedder({ promptTokensPerSecond: 60 });
    const { url, farm } = await startTestGateway(cleanup, { box: engine.url }, LONG);
    const asked = texts(8).map((input) => embed(url, input).answer);
    await until(() => engine.stats.active > 0, "they are asked");
    expect((await farm())[0]?.inflight).toBe(1);
    await Promise.all(asked);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/farmgate_requests_total\{api="embeddings",model="embed",worker="box",status="200".*\} 8/);
    expect(metrics).toContain("farmgate_embedding_batch_calls_sum 8\n");
  });
});

describe("a gateway that joins nothing", () => {
  it("sends each call as it came, byte for byte", async () => {
    const bytes: string[] = [];
    const { engine, url } = await plainFarm(bytes);
    const bodies = texts(20).map((text) => `{ "input":${JSON.stringify(text)} ,"model":"embed"}`);
    const answers = await Promise.all(bodies.map((body) => ask(`${url}/v1/embeddings`, body).answer));
    expect(bytes.toSorted()).toEqual(bodies.toSorted());
    for (const [i, answer] of answers.entries()) {
      const alone = await ask(`${engine.url}/v1/embeddings`, bodies[i] ?? "").answer;
      expect(answer.body).toBe(alone.body);
    }
  });
});

async function plainFarm(bytes: string[]) {
  const engine = await startTestEngine(cleanup, { models: [MODEL] }, ({ url, body }) => {
    if (url === "/v1/embeddings" && bytes.length < 20) bytes.push(String(body));
  });
  const { url } = await startTestGateway(cleanup, { box: engine.url });
  return { engine, url };
}

function servedBy(engines: readonly RunningEngine[]): number {
  return engines.reduce((sum, engine) => sum + engine.stats.served, 0);
}
