import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { type Clock, seededRandom } from "@farmgate/shared";
import { gatewayConfigSchema, startGateway } from "@farmgate/gateway";
import { createLog, createSystemClock } from "@farmgate/wire";
import { agentConfigSchema, startAgent } from "@farmgate/worker-agent";
import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { askChat, getJson } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestEngine, startTestGateway } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const ask = { messages: [{ role: "user" as const, content: "Tell me about farms." }], max_tokens: 5 };

describe("the official client", () => {
  it("reads a stream that began with comments as any other", async () => {
    const engine = await startTestEngine(cleanup, { models: ["m"], load: "1s" });
    const { url } = await startTestGateway(cleanup, { box: engine.url }, { sseComments: "100ms", loadingStatus: true });
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
    const { data, response } = await client.chat.completions
      .create({ model: "m", stream: true, ...ask })
      .withResponse();
    expect(response.headers.get("x-farmgate-worker")).toBeNull();
    let text = "";
    for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? "";
    expect(text.length).toBeGreaterThan(5);
    const again = await askChat(url, "m", ask).answer;
    expect(again.headers["x-farmgate-worker"]).toBe("box");
    expect(again.body).not.toMatch(/^:/m);
  });

  it("throws the error that it is told behind comments", async () => {
    const engine = await startTestEngine(cleanup, { models: ["m"], load: "1s" });
    const { url } = await startTestGateway(
      cleanup,
      { box: engine.url },
      { sseComments: "100ms", timeouts: { firstByte: "500ms" } },
    );
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
    const stream = await client.chat.completions.create({ model: "m", stream: true, ...ask });
    const read = async () => {
      for await (const chunk of stream) expect(chunk).toBeUndefined();
    };
    await expect(read()).rejects.toMatchObject({ code: "timeout_first_byte" });
  });
});

/** A clock that runs a hundred times as fast as time does. */
function fastClock(): Clock {
  const clock = createSystemClock();
  return { now: () => clock.now() * 100, wall: () => clock.wall(), after: (ms, fn) => clock.after(ms / 100, fn) };
}

describe("a request behind a long answer at an agent", () => {
  it("may wait longer than the gateway's time for the first byte", async () => {
    const models = ["a", "b"];
    const engines = await Promise.all(
      models.map((name) =>
        startTestEngine(cleanup, { models: [name], load: "0ms", single: true, slots: 1, tokensPerSecond: 20 }),
      ),
    );
    const directory = await cleanup.folder();
    await writeFile(join(directory, "swap.sh"), "#!/bin/sh\n", { mode: 0o755 });
    const agent = cleanup.add(
      await startAgent({
        config: agentConfigSchema.parse({
          listen: { port: 0 },
          swap: { command: "./swap.sh", poll: "1s" },
          queue: { maxWait: "24h" },
          models: models.map((name, i) => ({ name, url: engines[i]?.url, slots: 1 })),
        }),
        directory,
        environment: process.env,
        clock: fastClock(),
        random: seededRandom(1),
        log: createLog("agent", "silent"),
        version: "0.0.0",
      }),
      (running) => running.close(),
    );
    const gateway = cleanup.add(
      await startGateway({
        config: gatewayConfigSchema.parse({
          listen: { port: 0 },
          timeouts: { firstByte: "1s" },
          workers: [{ name: "box", url: agent.url, engine: "agent" }],
        }),
        clock: createSystemClock(),
        random: seededRandom(1),
        log: createLog("gateway", "silent"),
        version: "0.0.0",
      }),
      (running) => running.close(),
    );
    const long = askChat(gateway.url, "a", { max_tokens: 60 });
    await long.firstByte;
    const waiting = askChat(gateway.url, "b", { max_tokens: 2 });
    await until(
      async () => (await getJson<{ queue_depth: number }>(`${agent.url}/health`)).queue_depth === 1,
      "it waits",
    );
    const answer = await waiting.answer;
    expect(answer.body).toContain("[DONE]");
    expect(answer.status).toBe(200);
    expect(answer.firstByteAt - answer.sentAt).toBeGreaterThan(1_500);
    await long.answer;
  });
});
