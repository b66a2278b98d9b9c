import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { startRig } from "./support/agent-rig.ts";
import { only, until } from "./support/conditions.ts";
import { recorded } from "./support/fixture.ts";
import { handMadeEngine, type HandMadeEngine } from "./support/hand-made-engine.ts";
import { startHeldRig } from "./support/held-rig.ts";

const rigFor = (engine: HandMadeEngine, model: object = {}) =>
  startRig({
    script: "#!/bin/sh\necho $1 >> calls.log\n",
    config: { models: [{ name: "coder", url: engine.url, aliases: ["code"], ...model }] },
  });

describe("an answer of the engine", () => {
  it("passes byte for byte, tool calls and all, however the stream is cut", async () => {
    const { body, contentType } = await recorded("tool-call-required-stream.response");
    for (const size of [1, 7, 100, 4_096]) {
      const engine = await handMadeEngine((_request, response) => {
        response.writeHead(200, { "content-type": contentType, "x-accel-buffering": "no" });
        for (let at = 0; at < body.length; at += size) response.write(body.subarray(at, at + size));
        response.end();
      });
      const rig = await rigFor(engine);
      const answer = await rig.chat("coder", "Hi", { body: { stream: true } });
      expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true);
      expect(answer.headers.get("content-type")).toBe(contentType);
      expect(answer.headers.get("x-accel-buffering")).toBe("no");
      expect(answer.headers.get("x-farmgate-model")).toBe("coder");
    }
  });

  it("passes with its status and without the engine's own cookies and CORS", async () => {
    const engine = await handMadeEngine((_request, response) => {
      response.writeHead(418, {
        "content-type": "text/plain",
        "set-cookie": "a=b",
        "access-control-allow-origin": "*",
        "x-engine": "1",
      });
      response.end("short and stout");
    });
    const rig = await rigFor(engine);
    const answer = await rig.chat("coder", "Hi", { headers: { "x-request-id": "req-1" } });
    expect(answer.status).toBe(418);
    expect(await answer.text()).toBe("short and stout");
    expect(Object.fromEntries(answer.headers)).toMatchObject({ "x-engine": "1", "x-request-id": "req-1" });
    expect(answer.headers.has("set-cookie")).toBe(false);
    expect(answer.headers.has("access-control-allow-origin")).toBe(false);
  });

  it("comes from a model whose name no header can carry as it is", async () => {
    const engine = await handMadeEngine((_request, response) => response.end("{}"));
    const rig = await startRig({ config: { models: [{ name: "模型-é", url: engine.url }] } });
    const answer = await rig.chat("模型-é");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-farmgate-model")).toBe(encodeURIComponent("模型-é"));
  });

  it("starts before it ends: headers and first event come while the engine still writes", async () => {
    let finish = () => {};
    const engine = await handMadeEngine((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
      finish = () => response.end("data: 2\n\n");
    });
    const rig = await rigFor(engine);
    const answer = await rig.chat("coder");
    const reader = answer.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("data: 1\n\n");
    finish();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("data: 2\n\n");
  });

  it("waits at the engine while its caller does not read", async () => {
    const piece = Buffer.alloc(1_024 ** 2, "x");
    let sent = 0;
    const engine = await handMadeEngine((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const more = () => {
        while (sent < 200) {
          sent += 1;
          if (!response.write(piece)) return;
        }
        response.end();
      };
      response.on("drain", more);
      more();
    });
    const rig = await rigFor(engine);
    const body = '{"model":"coder"}';
    const caller = connect(rig.agent.port, "127.0.0.1");
    caller.pause();
    caller.write(`POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    let still = 0;
    let before = -1;
    await until(() => {
      still = sent > 0 && sent === before ? still + 1 : 0;
      before = sent;
      return still > 50;
    });
    expect(sent).toBeLessThan(100);
    let received = 0;
    caller.on("data", (chunk: Buffer) => {
      received += chunk.length;
    });
    caller.resume();
    await until(() => received > 200 * piece.length);
    caller.destroy();
  });

  it("of 30 MB arrives whole at a slow reader", async () => {
    const piece = Buffer.alloc(1_024 ** 2, "x");
    const engine = await handMadeEngine((_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": 30 * piece.length });
      for (let i = 0; i < 30; i += 1) response.write(piece);
      response.end();
    });
    const rig = await rigFor(engine);
    const answer = await rig.chat("coder");
    let length = 0;
    for await (const chunk of answer.body!) length += (chunk as Uint8Array).length;
    expect(length).toBe(30 * piece.length);
  });
});

describe("a request", () => {
  const echo = () => handMadeEngine((_request, response) => response.end("{}"));

  it("reaches the engine as it is, under the engine's own name for the model", async () => {
    const engine = await echo();
    const rig = await rigFor(engine, { model: 'org/"Qwen"', url: `${engine.url}/prefix` });
    const text = '{ "messages" : [ {"role":"user","content":"model"} ],\n "model":"CODE:latest", "x": 1.0e2 }';
    const answer = await fetch(`${rig.agent.url}/v1/chat/completions?beta=true`, { method: "POST", body: text });
    expect(answer.status).toBe(200);
    expect(engine.requests).toHaveLength(1);
    expect(String(only(engine.requests).body)).toBe(text.replace('"CODE:latest"', '"org/\\"Qwen\\""'));
    expect(only(engine.requests).path).toBe("/prefix/v1/chat/completions?beta=true");
    expect(only(engine.requests).headers["content-length"]).toBe(String(only(engine.requests).body.length));
    expect(only(engine.requests).headers["transfer-encoding"]).toBeUndefined();
  });

  it("keeps the caller's secrets and the farm's own headers from the engine", async () => {
    const engine = await echo();
    const rig = await rigFor(engine);
    const secrets = { authorization: "Bearer s", "x-api-key": "s", cookie: "s=1", "x-farmgate-caller": "alice" };
    await rig.chat("coder", "Hi", { headers: { ...secrets, "x-stainless-os": "Linux" } });
    const headers = only(engine.requests).headers;
    for (const name of Object.keys(secrets)) expect(headers[name]).toBeUndefined();
    expect(headers["x-stainless-os"]).toBe("Linux");
    expect(headers.host).toBe(new URL(engine.url).host);
  });

  it.each(["/v1/completions", "/v1/embeddings", "/v1/rerank", "/v1/responses", "/v1/messages", "/v1/audio/speech"])(
    "to %s goes to the same path",
    async (path) => {
      const engine = await echo();
      const rig = await rigFor(engine);
      const answer = await fetch(rig.agent.url + path, { method: "POST", body: '{"model":"coder"}' });
      expect(answer.status).toBe(200);
      expect(only(engine.requests).path).toBe(path);
    },
  );

  it.each<[string, string, number, string, string]>([
    ["that is not JSON", "{", 400, "invalid_request", "not a JSON object"],
    ["that is empty", "", 400, "invalid_request", "empty"],
    ["without a model", '{"messages":[]}', 400, "invalid_request", "no `model`"],
    ["for a model that is no string", '{"model":1}', 400, "invalid_request", "must be a string"],
    ["for an unknown model", '{"model":"coda"}', 404, "model_not_found", "Did you mean code or coder?"],
  ])("%s is refused", async (_what, body, status, code, message) => {
    const engine = await echo();
    const rig = await rigFor(engine);
    const answer = await fetch(`${rig.agent.url}/v1/chat/completions`, { method: "POST", body });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { code, message: expect.stringContaining(message) } });
    expect(engine.requests).toHaveLength(0);
    expect(await rig.calls()).toEqual([]);
  });

  it("with wishes that make no sense is refused", async () => {
    const rig = await rigFor(await echo());
    expect((await rig.chat("coder", "Hi", { headers: { "x-farmgate-priority": "urgent" } })).status).toBe(400);
    expect((await rig.chat("coder", "Hi", { headers: { "x-farmgate-deadline-ms": "soon" } })).status).toBe(400);
  });

  it("over 100 MB is refused with 413, although its sender is still sending", async () => {
    const rig = await rigFor(await echo());
    const body = Buffer.alloc(100 * 1_024 ** 2 + 1, " ");
    const answer = await fetch(`${rig.agent.url}/v1/chat/completions`, { method: "POST", body });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ error: { code: "body_too_large" } });
  });

  it("whose deadline passes before its engine has answered is told so, and frees its slot", async () => {
    const engine = await handMadeEngine(() => {});
    const rig = await rigFor(engine);
    const late = await rig.chat("coder", "Hi", { headers: { "x-farmgate-deadline-ms": "300" } });
    expect(late.status).toBe(503);
    expect(await late.json()).toMatchObject({ error: { code: "deadline" } });
    expect(late.headers.get("x-should-retry")).toBe("false");
    await until(() => engine.left === 1);
    expect(await rig.health()).toMatchObject({ inflight: 0, model: "coder" });
  });

  it("whose deadline passes in the queue is told so, and starts no swap of its own", async () => {
    const rig = await startHeldRig();
    const long = rig.chat("a", "1");
    await until(() => rig.asked.length === 1);
    const late = await rig.chat("b", "2", { headers: { "x-farmgate-deadline-ms": "100" } });
    expect(late.status).toBe(503);
    expect(await late.json()).toMatchObject({ error: { code: "deadline" } });
    expect(late.headers.get("x-should-retry")).toBe("false");
    rig.release();
    expect((await long).status).toBe(200);
    expect(await rig.calls()).toEqual([]);
  });
});
