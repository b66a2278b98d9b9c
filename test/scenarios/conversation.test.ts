import { afterEach, describe, expect, it } from "vitest";
import { ask } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestEngine, startTestGateway } from "../harness/gateway-farm.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

interface ChatAnswer {
  choices: { message: { role: string; content: string } }[];
  usage: { prompt_tokens_details?: { cached_tokens: number } };
}

async function converse(url: string, turns: number, between: () => Promise<void>) {
  const messages: object[] = [];
  const workers: string[] = [];
  let cachedTurns = 0;
  for (let turn = 1; turn <= turns; turn += 1) {
    messages.push({ role: "user", content: `Question ${turn}, after all that was said before it.` });
    const answer = await ask(`${url}/v1/chat/completions`, { model: "m", messages, max_tokens: 20 }).answer;
    const { choices, usage } = JSON.parse(answer.body) as ChatAnswer;
    messages.push(choices[0]?.message ?? {});
    workers.push(String(answer.headers["x-farmgate-worker"]));
    if ((usage.prompt_tokens_details?.cached_tokens ?? 0) > 0) cachedTurns += 1;
    await between();
  }
  return { workers: [...new Set(workers)], cachedTurns };
}

describe("a conversation of ten turns over two warm workers", () => {
  it("stays on one, also while others ask in between, and moves about without affinity", async () => {
    const models = [{ name: "m", loaded: true }];
    const one = await startTestEngine(cleanup, { models });
    const two = await startTestEngine(cleanup, { models });
    const workers = { one: one.url, two: two.url };
    const stays = await startTestGateway(cleanup, workers);
    const moves = await startTestGateway(cleanup, workers, { routing: { affinity: false } });
    const stranger = (url: string) => async () => {
      await ask(`${url}/v1/chat/completions`, { model: "m", messages: [{ role: "user", content: "Hello" }] }).answer;
    };

    const staying = await converse(stays.url, 10, stranger(stays.url));
    const moving = await converse(moves.url, 10, async () => {});
    console.log(
      `ten turns: ${staying.workers.length} worker, prefix cached in ${staying.cachedTurns} turns;`,
      `without affinity ${moving.workers.length} workers`,
    );
    expect(staying.workers).toHaveLength(1);
    expect(staying.cachedTurns).toBe(9);
    expect(moving.workers).toHaveLength(2);
  });
});
