import { readTrace } from "@farmgate/simulator/virtual";
import { afterEach, expect, it } from "vitest";
import { ask } from "../harness/ask.ts";
import { Cleanup, runFarmgate } from "../harness/farmgate-process.ts";
import { startTestEngine, startTestGateway } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

it("what a running farm is asked is recorded by `farmgate trace` and read back, without a word of it", async () => {
  const engine = await startTestEngine(cleanup, {
    models: ["chatty", { name: "embedder", kind: "embedding" }],
    tokensPerSecond: 500,
  });
  const keys = [
    { name: "owner", key: "owner-key", admin: true },
    { name: "guest", key: "guest-key" },
  ];
  const { url } = await startTestGateway(cleanup, { box: engine.url }, { keys });
  const recorder = cleanup.add(runFarmgate(["trace", "--gateway", url], { env: { FARMGATE_KEY: "owner-key" } }), (p) =>
    p.stop(),
  );
  await until(() => recorder.stdout().includes("farmgate_trace"), "it records");
  const asGuest = { authorization: "Bearer guest-key" };
  const messages = [{ role: "user", content: "tell me of hedgehogs" }];
  for (const [i, headers] of [asGuest, { authorization: "Bearer owner-key" }, asGuest].entries()) {
    const counted = { stream_options: { include_usage: true } };
    const body = { model: "chatty", messages, stream: true, max_tokens: 20 + i, ...(i < 2 && counted) };
    expect((await ask(`${url}/v1/chat/completions`, body, headers).answer).status).toBe(200);
  }
  const input = { model: "embedder", input: "hedgehogs" };
  expect((await ask(`${url}/v1/embeddings`, input, asGuest).answer).status).toBe(200);
  await until(() => recorder.stdout().trim().split("\n").length === 5, "all are recorded");
  recorder.child.kill("SIGINT");
  expect(await recorder.ended).toBe(0);
  expect(recorder.stderr()).toContain("4 requests recorded");

  expect(recorder.stdout()).not.toMatch(/hedgehog|guest|owner/);
  const { trace, format, notes } = readTrace(recorder.stdout());
  expect(format).toBe("farmgate");
  expect(trace.applications).toEqual(["chatty", "embedder"]);
  expect([...trace.app]).toEqual([0, 0, 0, 1]);
  expect([...(trace.key ?? [])]).toEqual([1, 2, 1, 1]);
  expect([...trace.output].slice(0, 2)).toEqual([20, 21]);
  // The third was not counted by the engine: it told no usage in its stream.
  expect(Math.abs((trace.output[2] ?? 0) - 22)).toBeLessThanOrEqual(4);
  expect(trace.output[3]).toBe(0);
  expect(Math.min(...trace.input)).toBeGreaterThan(0);
  // Nor is the embedding's count read: its answer has it in front of two thousand bytes of vector.
  expect(notes).toEqual(["the tokens of 2 of 4 requests are estimates"]);
});
