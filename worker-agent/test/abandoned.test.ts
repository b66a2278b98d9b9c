import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { startRig } from "./support/agent-rig.ts";
import { until } from "./support/conditions.ts";
import { handMadeEngine } from "./support/hand-made-engine.ts";

/** An agent before an engine that a broken connection hurts, and a caller who has left in the middle of its answer. */
async function abandoned(drainOnAbort: object) {
  const answers: ServerResponse[] = [];
  const engine = await handMadeEngine((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
    answers.push(response);
  });
  const model = { name: "a", url: engine.url, slots: 1, drainOnAbort };
  const rig = await startRig({ config: { models: [model], drain: "100ms" } });
  const leaver = new AbortController();
  const answer = await rig.chat("a", "1", { signal: leaver.signal, body: { stream: true } });
  leaver.abort();
  await expect(answer.text()).rejects.toThrow("aborted");
  return { rig, engine, answers };
}

const served = async (url: string) =>
  (await (await fetch(`${url}/metrics`)).text()).includes('farmgate_agent_served_total{model="a",status="499"} 1');

describe("an answer whose caller has left, with drainOnAbort", () => {
  it("is read to its end and keeps its slot until then", async () => {
    const { rig, engine, answers } = await abandoned({ time: "60s" });
    const next = rig.chat("a", "2", { body: { stream: true } });
    await rig.queued(1);
    expect(await served(rig.agent.url)).toBe(false);
    expect(answers).toHaveLength(1);
    answers[0]?.end("data: [DONE]\n\n");
    expect((await next).status).toBe(200);
    expect(engine.left).toBe(0);
    expect(await served(rig.agent.url)).toBe(true);
    answers[1]?.end();
  });

  it("is cut when its time is over", async () => {
    const { rig, engine } = await abandoned({ time: "150ms" });
    await until(() => engine.left === 1);
    await until(async () => (await rig.health())["inflight"] === 0);
    expect(await served(rig.agent.url)).toBe(true);
  });

  it("is cut when it is longer than what may be read", async () => {
    const { rig, engine, answers } = await abandoned({ bytes: "1kb" });
    answers[0]?.write("x".repeat(500));
    await rig.health();
    expect(engine.left).toBe(0);
    answers[0]?.write("x".repeat(2_000));
    await until(() => engine.left === 1);
    await until(() => served(rig.agent.url));
  });

  it("does not hold up an agent that stops", async () => {
    const { rig, engine } = await abandoned({ time: "1h" });
    await rig.agent.close();
    expect(engine.left).toBe(1);
  });
});
