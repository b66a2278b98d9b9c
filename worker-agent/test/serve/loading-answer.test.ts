import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { startRig } from "../support/agent-rig.ts";
import { until } from "../support/conditions.ts";
import { handMadeEngine } from "../support/hand-made-engine.ts";

const LOADING = JSON.stringify({ error: { code: 503, message: "Loading model", type: "unavailable_error" } });

const loading = (response: ServerResponse) => void response.writeHead(503).end(LOADING);

/** An agent before an engine that answers as `first` says so many times, and from then on well. */
async function startAgainst(first: (response: ServerResponse) => void, times = 1, model: object = {}) {
  let asked = 0;
  const engine = await handMadeEngine((_request, response) => {
    asked += 1;
    if (asked <= times) first(response);
    else response.end('{"answer":"good"}');
  });
  const models = [{ name: "a", url: engine.url, slots: 1, ...model }];
  return { engine, rig: await startRig({ config: { models, drain: "100ms" } }) };
}

describe("an engine that is loading although it was taken for ready", () => {
  it.each<[string, (response: ServerResponse) => void]>([
    ["in pieces", loading],
    ["with its length", (response) => void response.writeHead(503, { "content-length": LOADING.length }).end(LOADING)],
  ])("is asked again, whether it says so %s, and its slot stays taken", async (_how, first) => {
    const { engine, rig } = await startAgainst(first);
    const answers = [rig.chat("a", "1"), rig.chat("a", "2")];
    for (const answer of answers) expect(await (await answer).json()).toEqual({ answer: "good" });
    expect(engine.requests).toHaveLength(3);
    expect(await rig.health()).toMatchObject({ model: "a", inflight: 0, status: "ok" });
  });

  it("is asked no more once the time for its load is over", async () => {
    const { engine, rig } = await startAgainst(loading, 9, { timeout: "200ms" });
    const answer = await rig.chat("a");
    expect([answer.status, await answer.text()]).toEqual([503, LOADING]);
    expect(engine.requests).toHaveLength(2);
  });

  it("is asked no more once the request's deadline has passed", async () => {
    const { engine, rig } = await startAgainst(loading);
    const answer = await rig.chat("a", "1", { headers: { "x-farmgate-deadline-ms": "400" } });
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('"deadline"')]);
    expect(engine.requests).toHaveLength(1);
  });

  it("does not hold up an agent that stops", async () => {
    const { engine, rig } = await startAgainst(loading, 99);
    const answer = rig.chat("a");
    await until(() => engine.requests.length === 1);
    await rig.agent.close();
    expect((await answer).status).toBe(503);
    expect(await (await answer).text()).toContain('"draining"');
  });
});

describe("any other answer of 503", () => {
  it.each<[string, string]>([
    ["that says something else", '{"error":{"message":"no slot"}}'],
    ["that is long", `Loading model ${"x".repeat(10_000)}`],
    ["without a word", ""],
  ])("%s passes as it is", async (_which, text) => {
    const { engine, rig } = await startAgainst((response) => void response.writeHead(503, { "x-why": "1" }).end(text));
    const answer = await rig.chat("a");
    expect([answer.status, answer.headers.get("x-why"), await answer.text()]).toEqual([503, "1", text]);
    expect(engine.requests).toHaveLength(1);
  });

  it("that does not end passes after a moment", async () => {
    const { rig } = await startAgainst((response) => void response.writeHead(503).write("Loading model"));
    const answer = await rig.chat("a");
    expect(answer.status).toBe(503);
    await answer.body?.cancel();
  });
});
