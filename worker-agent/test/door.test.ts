import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { startRig } from "./support/agent-rig.ts";
import { handMadeEngine } from "./support/hand-made-engine.ts";

/** The first piece of what comes back for these bytes. */
async function told(port: number, bytes: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write(bytes);
  return String((await once(socket, "data"))[0]);
}

describe("the agent's door", () => {
  it("takes a target that is written with scheme and host", async () => {
    const engine = await handMadeEngine((_request, response) => response.end("{}"));
    const rig = await startRig({ config: { models: [{ name: "m", url: engine.url }] } });
    const body = '{"model":"m"}';
    const head = "POST http://box.example:1/v1/chat/completions?x=1 HTTP/1.1\r\nhost: x\r\n";
    const answer = await told(rig.agent.port, `${head}content-length: ${body.length}\r\n\r\n${body}`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(engine.requests[0]?.path).toBe("/v1/chat/completions?x=1");
  });

  it("takes all the headers that a gateway lets through", async () => {
    const rig = await startRig();
    const answer = await fetch(`${rig.agent.url}/health`, { headers: { "x-long": "a".repeat(32 * 1_024) } });
    expect(answer.status).toBe(200);
  });

  it("refuses what is no HTTP with an error that a client can read", async () => {
    const rig = await startRig();
    const answer = await told(rig.agent.port, "nonsense\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*"code":"invalid_request"/);
  });

  it("answers an unknown path in the shape of its API", async () => {
    const rig = await startRig();
    const answer = await fetch(`${rig.agent.url}/api/pull`, { method: "POST" });
    expect(await answer.json()).toEqual({ error: "There is nothing at /api/pull." });
  });
});
