import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { until } from "./support/conditions.ts";
import { HELD_SCRIPT, startRig } from "./support/agent-rig.ts";
import { handMadeEngine } from "./support/hand-made-engine.ts";
import { startHeldRig } from "./support/held-rig.ts";

const metric = async (url: string, line: string) => (await (await fetch(`${url}/metrics`)).text()).includes(line);

describe("a caller who leaves", () => {
  it("while queued is out of the queue, and its model is never loaded", async () => {
    const rig = await startHeldRig();
    const long = rig.chat("a", "1");
    await until(() => rig.asked.length === 1);
    const leaver = new AbortController();
    const left = rig.chat("b", "2", { signal: leaver.signal });
    await rig.queued(1);
    leaver.abort();
    await expect(left).rejects.toThrow("aborted");
    await rig.queued(0);
    rig.release();
    expect((await long).status).toBe(200);
    expect(await rig.calls()).toEqual([]);
    expect(await metric(rig.agent.url, 'farmgate_agent_served_total{model="b",status="499"} 1')).toBe(true);
  });

  it("while its model is being loaded leaves no request behind; the load ends and the next caller profits", async () => {
    const engine = await handMadeEngine((_request, response) => response.end("{}"));
    await engine.kill();
    const rig = await startRig({ script: HELD_SCRIPT, config: { models: [{ name: "a", url: engine.url }] } });
    const leaver = new AbortController();
    const left = rig.chat("a", "1", { signal: leaver.signal });
    await until(async () => (await rig.calls()).length === 1);
    leaver.abort();
    await expect(left).rejects.toThrow("aborted");
    await rig.queued(0);
    const next = rig.chat("a", "2");
    await rig.queued(1);
    await engine.revive();
    await writeFile(join(rig.directory, "go"), "");
    expect((await next).status).toBe(200);
    expect(engine.requests).toHaveLength(1);
    expect(await rig.calls()).toEqual(["a"]);
  });

  it.each([
    ["before the first byte", false],
    ["in the middle of a stream", true],
  ])("%s closes the engine's connection and frees the slot", async (_when, streaming) => {
    const engine = await handMadeEngine((_request, response) => {
      if (!streaming) return;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: {}\n\n");
    });
    const rig = await startRig({ config: { models: [{ name: "a", url: engine.url, slots: 1 }] } });
    const leaver = new AbortController();
    const answer = rig.chat("a", "1", { signal: leaver.signal, body: { stream: streaming } });
    const ended = answer
      .then((got) => got.text())
      .then(
        () => "whole",
        () => "aborted",
      );
    await until(() => engine.requests.length === 1);
    if (streaming) await answer;
    leaver.abort();
    expect(await ended).toBe("aborted");
    await until(() => engine.left === 1);
    await until(async () => (await rig.health())["inflight"] === 0);
    expect(await metric(rig.agent.url, 'farmgate_agent_served_total{model="a",status="499"} 1')).toBe(true);
  });

  it("by closing its half of the connection counts as gone", async () => {
    const engine = await handMadeEngine(() => {});
    const rig = await startRig({ config: { models: [{ name: "a", url: engine.url }] } });
    const body = '{"model":"a"}';
    const socket = connect(rig.agent.port, "127.0.0.1");
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await until(() => engine.requests.length === 1);
    socket.end();
    await until(() => engine.left === 1);
    expect(await rig.health()).toMatchObject({ inflight: 0 });
  });
});
