import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { HELD_SCRIPT, startRig } from "./support/agent-rig.ts";
import { until } from "./support/conditions.ts";
import { handMadeEngine } from "./support/hand-made-engine.ts";

const errorOf = async (answer: Response) => {
  const body = await answer.text();
  const { error }: { error: { code: string; message: string } } = JSON.parse(body);
  return error;
};

describe("a swap that fails", () => {
  it("answers its waiters with the script's own words, and at the limit refuses at once without the script", async () => {
    const script = "#!/bin/sh\necho $1 >> calls.log\necho 'GPU 0: out of memory' >&2\nexit 3\n";
    const rig = await startRig({ script, config: { swap: { failureLimit: 3 } } });
    for (let i = 1; i <= 3; i += 1) {
      const answer = await rig.chat("a");
      expect(answer.status).toBe(503);
      const error = await errorOf(answer);
      expect(error.code).toBe("load_failed");
      expect(error.message).toContain("swap.cjs ended with exit code 3: GPU 0: out of memory");
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    const refused = await rig.chat("a");
    expect(refused.status).toBe(503);
    expect((await errorOf(refused)).code).toBe("load_failed");
    expect(await rig.calls()).toEqual(["a", "a", "a"]);
    expect(await rig.health()).toMatchObject({ status: "degraded", model: null });
    const metrics = await (await fetch(`${rig.agent.url}/metrics`)).text();
    expect(metrics).toContain('farmgate_agent_swaps_total{from="none",to="a",result="failed"} 3');
  });

  it("because the engine never gets ready says what was missing", async () => {
    const rig = await startRig({
      script: "#!/bin/sh\nexit 0\n",
      config: { swap: { timeout: "1s" }, models: [{ name: "a", url: "http://127.0.0.1:1" }] },
    });
    const answer = await rig.chat("a");
    expect(answer.status).toBe(503);
    expect((await errorOf(answer)).message).toContain("was not ready within 1 s: /health did not answer");
  });

  it("because the script hangs is over after the time-out", async () => {
    const script = "#!/bin/sh\nexec sleep 60\n";
    const rig = await startRig({ script, config: { swap: { timeout: "300ms" } } });
    expect((await errorOf(await rig.chat("a"))).message).toContain("swap.cjs did not end within 300 ms");
  });

  it("takes nothing to be loaded afterwards: the next request for the old model runs the script again", async () => {
    const script = `#!/bin/sh\necho "$1" >> calls.log\n[ "$1" = a ] && [ -z "$FARMGATE_PREVIOUS" ]\n`;
    const engine = await handMadeEngine((_request, response) => response.end("{}"));
    const models = [
      { name: "a", url: engine.url },
      { name: "b", url: "http://127.0.0.1:1" },
    ];
    const rig = await startRig({ script, config: { models } });
    expect((await rig.chat("a")).status).toBe(200);
    expect((await rig.chat("b")).status).toBe(503);
    expect((await rig.chat("a")).status).toBe(200);
    expect(await rig.calls()).toEqual(["b", "a"]);
  });
});

describe("an engine that dies", () => {
  it("in the middle of a stream: the break is told inside the stream, after a blank line", async () => {
    const engine = await handMadeEngine((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"n":1}\n\ndata: {"n":', () => response.socket?.resetAndDestroy());
    });
    const rig = await startRig({ config: { models: [{ name: "a", url: engine.url }] } });
    const answer = await rig.chat("a", "Hi", { body: { stream: true } });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text.startsWith('data: {"n":1}\n\ndata: {"n":\n\ndata: {"error":')).toBe(true);
    expect(text.endsWith("\n\n")).toBe(true);
    const last: { error: { code: string; message: string } } = JSON.parse(text.trim().split("\n\n").at(-1)!.slice(6));
    expect(last.error.code).toBe("worker_failed");
    expect(last.error.message).toContain("The engine of a broke off");
    expect(await rig.health()).toMatchObject({ inflight: 0 });
  });

  const halfOf = (headers: Record<string, string | number>) =>
    handMadeEngine((_request, response) => {
      response.writeHead(200, headers);
      response.write("half of it", () => response.socket?.resetAndDestroy());
    });

  it("in the middle of a stream of a told length: the break is told inside it all the same", async () => {
    const engine = await halfOf({ "content-type": "text/event-stream", "content-length": 1_000 });
    const rig = await startRig({ config: { models: [{ name: "a", url: engine.url }] } });
    const answer = await rig.chat("a", "Hi", { body: { stream: true } });
    expect(await answer.text()).toMatch(/^half of it\n\ndata: \{"error":.*\n\n$/);
  });

  it("in the middle of a compressed stream: nothing is added to it, the connection breaks", async () => {
    const engine = await halfOf({ "content-type": "text/event-stream", "content-encoding": "gzip" });
    const rig = await startRig({ config: { models: [{ name: "a", url: engine.url }] } });
    const answer = await rig.chat("a", "Hi", { body: { stream: true } });
    await expect(answer.text()).rejects.toThrow("terminated");
  });

  it.each([{ "content-length": 1_000 }, {}])("in the middle of a plain answer with %j: 502", async (length) => {
    const engine = await halfOf({ "content-type": "application/json", ...length });
    const rig = await startRig({ config: { models: [{ name: "a", url: engine.url }] } });
    const answer = await rig.chat("a");
    expect(answer.status).toBe(502);
    expect((await errorOf(answer)).message).toContain("The engine of a broke off in the middle of its answer");
    expect(engine.requests).toHaveLength(1);
  });

  it("in the middle of an answer that is too long to be held: the caller's connection breaks too", async () => {
    const engine = await halfOf({ "content-type": "application/json", "content-length": 2 * 1_024 ** 2 });
    const rig = await startRig({ config: { models: [{ name: "a", url: engine.url }] } });
    const answer = await rig.chat("a");
    await expect(answer.text()).rejects.toThrow("terminated");
  });

  it("before it answers: 502, and the caller is told who broke", async () => {
    const engine = await handMadeEngine((_request, response) => response.socket?.resetAndDestroy());
    const rig = await startRig({ config: { models: [{ name: "a", url: engine.url }] } });
    const answer = await rig.chat("a");
    expect(answer.status).toBe(502);
    expect((await errorOf(answer)).message).toContain("The engine of a broke the connection before it answered");
  });

  it("while idle: the next requests find out, the model is loaded anew once, and all are served", async () => {
    const engine = await handMadeEngine((_request, response) => response.end("{}"));
    const models = [{ name: "a", url: engine.url, slots: 2 }];
    const rig = await startRig({ script: HELD_SCRIPT, config: { models } });
    expect((await rig.chat("a")).status).toBe(200);
    await engine.kill();
    const waiting = [1, 2, 3].map(() => rig.chat("a"));
    await until(async () => (await rig.calls()).length === 1);
    await rig.queued(3);
    await engine.revive();
    await writeFile(join(rig.directory, "go"), "");
    for (const answer of waiting) expect((await answer).status).toBe(200);
    expect(await rig.calls()).toEqual(["a"]);
    expect(engine.requests).toHaveLength(4);
    expect(await rig.health()).toMatchObject({ inflight: 0, queue_depth: 0, model: "a" });
  });

  it("for good: the request is tried once more after the script, then the caller is told", async () => {
    const engine = await handMadeEngine((_request, response) => response.end("{}"));
    const script = "#!/bin/sh\necho $1 >> calls.log\n";
    const rig = await startRig({
      script,
      config: { swap: { timeout: "300ms" }, models: [{ name: "a", url: engine.url }] },
    });
    expect((await rig.chat("a")).status).toBe(200);
    await engine.kill();
    const answer = await rig.chat("a");
    expect(answer.status).toBe(503);
    expect((await errorOf(answer)).code).toBe("load_failed");
    expect(await rig.calls()).toEqual(["a"]);
  });

  it("each time that it was found ready: the request is sent twice and no more", async () => {
    const engine = await handMadeEngine((_request, response) => response.end("{}"));
    const script = "#!/bin/sh\necho $1 >> calls.log\n";
    const models = [{ name: "a", url: engine.url }];
    const rig = await startRig({ script, config: { swap: { timeout: "5s" }, models } });
    await engine.kill();
    engine.afterHealth = () => void engine.kill();
    const answer = rig.chat("a");
    await until(async () => (await rig.calls()).length === 1);
    await engine.revive();
    expect((await answer).status).toBe(502);
    expect((await errorOf(await answer)).message).toContain("The engine of a cannot be reached");
    expect(await rig.calls()).toEqual(["a"]);
    expect(await rig.health()).toMatchObject({ model: null, inflight: 0, queue_depth: 0 });
  });

  it("between two requests on one connection: the second is sent again on a new one", async () => {
    let hits = 0;
    const engine = await handMadeEngine((_request, response) => {
      hits += 1;
      // The second request meets the end of a connection that had been kept.
      if (hits === 2) response.socket?.resetAndDestroy();
      else response.end("{}");
    });
    const rig = await startRig({ config: { models: [{ name: "a", url: engine.url }] } });
    expect((await rig.chat("a")).status).toBe(200);
    expect((await rig.chat("a")).status).toBe(200);
    expect(hits).toBe(3);
  });
});
