import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { HELD_SCRIPT, startRig } from "./support/agent-rig.ts";
import { isAlive, until } from "./support/conditions.ts";
import { startHeldRig } from "./support/held-rig.ts";
import { handMadeEngine } from "./support/hand-made-engine.ts";

const aLoaded = { models: [{ name: "a", loaded: true }, "b"] };

describe("an agent that stops", () => {
  it("lets the running answer end, refuses what waits, takes nothing new, and then is gone", async () => {
    const rig = await startHeldRig();
    const running = rig.chat("a", "1", { body: { stream: true } });
    await until(() => rig.asked.length === 1);
    const waiting = rig.chat("b", "2");
    await rig.queued(1);
    const closed = rig.agent.close();
    const refused = await waiting;
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: { code: "draining" } });
    rig.release();
    const answer = await running;
    expect(answer.status).toBe(200);
    expect(await answer.text()).toMatch(/data: \[DONE\]\n\n$/);
    await closed;
    await expect(rig.health()).rejects.toThrow("fetch failed");
    expect(await rig.calls()).toEqual([]);
  });

  it("cuts what does not end within `drain`, and says so inside the stream", async () => {
    const engine = await handMadeEngine((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: {}\n\n");
    });
    const rig = await startRig({ config: { drain: "100ms", models: [{ name: "a", url: engine.url }] } });
    const answer = await rig.chat("a", "Hi", { body: { stream: true } });
    await rig.agent.close();
    expect(await answer.text()).toMatch(/^data: {}\n\ndata: {"error":.*"code":"draining"}}\n\n$/);
    await until(() => engine.left === 1);
  });

  it("tells a caller whose request is still on its way", async () => {
    const rig = await startRig();
    const socket = connect(rig.agent.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    const head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 100\r\n\r\n";
    socket.write(head);
    // Then it is being read.
    await once(socket, "data");
    const told = once(socket, "data");
    await rig.agent.close();
    expect(String(await told)).toMatch(/^HTTP\/1\.1 503 [^]*"code":"draining"/);
  });

  it("ends the swap script under way with all that it started", async () => {
    const script = HELD_SCRIPT.replace("\n", "\nsleep 60 & echo $! > child.pid\necho $$ > script.pid\n");
    const rig = await startRig({ script });
    const waiting = rig.chat("a");
    const pids = async () =>
      Promise.all(
        ["script.pid", "child.pid"].map((name) => readFile(join(rig.directory, name), "utf8").catch(() => "")),
      );
    await until(async () => (await pids()).every((text) => text.endsWith("\n")));
    await rig.agent.close();
    expect((await waiting).status).toBe(503);
    for (const pid of await pids()) await until(() => !isAlive(Number(pid)));
  });

  it("can be told to stop twice", async () => {
    const rig = await startRig();
    const [first, second] = [rig.agent.close(), rig.agent.close()];
    expect(second).toBe(first);
    await first;
  });
});

describe("an agent that starts", () => {
  it("rejects when its port is in use", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    await expect(startRig({ config: { listen: { port } } })).rejects.toMatchObject({ code: "EADDRINUSE" });
    other.close();
  });

  it("takes the loaded model for loaded, without the script", async () => {
    const rig = await startRig({ engine: { models: ["a", { name: "b", loaded: true }] } });
    expect(await rig.health()).toMatchObject({ model: "b", swaps: 0, last_swap_ms: null });
    expect((await rig.chat("b")).status).toBe(200);
    expect(await rig.calls()).toEqual([]);
  });

  it("reads what is loaded from `COMMAND status` where the script knows it", async () => {
    const script = "#!/bin/sh\necho $1 >> calls.log\necho 'A: stopped'\necho '  B :  Loaded '\n";
    const rig = await startRig({ script, config: { swap: { status: true } } });
    expect(await rig.health()).toMatchObject({ model: "b" });
    expect(await rig.calls()).toEqual(["status"]);
  });

  it("takes nothing for loaded when `COMMAND status` fails", async () => {
    const rig = await startRig({ script: "#!/bin/sh\nexit 1\n", config: { swap: { status: true } }, engine: aLoaded });
    expect(await rig.health()).toMatchObject({ model: null });
  });
});

describe("an agent that drains by order", () => {
  it("serves what waits, refuses what comes, and resumes", async () => {
    const rig = await startHeldRig();
    const post = async (path: string) => (await fetch(rig.agent.url + path, { method: "POST" })).json();
    const running = rig.chat("a", "1");
    await until(() => rig.asked.length === 1);
    const waiting = rig.chat("b", "2");
    await rig.queued(1);
    expect(await post("/drain")).toEqual({ draining: true });
    const refused = await rig.chat("a", "3");
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: { code: "draining" } });
    expect(await rig.health()).toMatchObject({ status: "draining" });
    rig.release();
    expect((await running).status).toBe(200);
    expect((await waiting).status).toBe(200);
    expect(await post("/resume")).toEqual({ draining: false });
    expect((await rig.chat("b", "4")).status).toBe(200);
  });
});
