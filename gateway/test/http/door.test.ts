import { request } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { cleanup } from "../support/cleanup.ts";
import { fakeWorker, hangs } from "../support/fake-worker.ts";
import { agents, chat, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const body = '{"model":"m"}';

describe("the gateway's door", () => {
  it("takes a target that is written with scheme and host", async () => {
    const a = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a }) });
    const status = await new Promise((resolve, reject) => {
      const path = "http://farm.example:1/v1/chat/completions?x=1";
      const sent = request(gateway.url, { method: "POST", path }, (response) => resolve(response.resume().statusCode));
      sent.on("error", reject);
      sent.end(body);
    });
    expect(status).toBe(200);
    expect(a.request(0).path).toBe("/v1/chat/completions?x=1");
  });

  it("finds workers and requests by names as long as they may be", async () => {
    const name = `größe/${"x".repeat(194)}`;
    const id = "i".repeat(128);
    const a = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ [name]: a }) });
    const answer = chat(gateway, {}, { headers: { "x-request-id": id } });
    await until("it is asked", () => a.asked.length === 1);
    const drained = await fetch(`${gateway.url}/farm/workers/${encodeURIComponent(name)}/drain`, { method: "POST" });
    expect(await drained.json()).toMatchObject({ name, state: "draining" });
    expect((await fetch(`${gateway.url}/farm/requests/${id}`, { method: "DELETE" })).status).toBe(200);
    expect((await answer).status).toBe(499);
  });

  it("serves a pipeline of any length without complaint", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on("warning", note);
    cleanup(() => process.off("warning", note));
    const a = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a }) });
    const socket = connect(gateway.port, "127.0.0.1");
    cleanup(() => socket.destroy());
    let text = "";
    socket.on("data", (piece) => (text += String(piece)));
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`;
    socket.write((head + body).repeat(40));
    await until("all are answered", () => text.match(/HTTP\/1\.1 200/g)?.length === 40);
    expect(warnings).toEqual([]);
  });

  it("does not mind an expectation that means nothing here", async () => {
    const a = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a }) });
    const socket = connect(gateway.port, "127.0.0.1");
    cleanup(() => socket.destroy());
    const told = new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
    const head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\n";
    socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
    expect(await told).toMatch(/^HTTP\/1\.1 200 /);
  });
});
