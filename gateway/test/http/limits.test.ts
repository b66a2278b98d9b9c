import { request } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { fakeWorker } from "../support/fake-worker.ts";
import { agents, errorOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

async function farm() {
  const a = await fakeWorker({ m: "warm" });
  const b = await fakeWorker({ old: "warm" });
  const gateway = await runGateway({ workers: agents({ a, b }) });
  await until("its catalogues are there", async () => (await fetch(`${gateway.url}/readyz`)).ok);
  return { a, b, ...gateway };
}

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

describe("what a request may be at most", () => {
  it("has arrays and objects nested only so far, whatever API it is of", async () => {
    const { url, a } = await farm();
    for (const [path, field] of [
      ["/v1/chat/completions", "messages"],
      ["/v1/completions", "prompt"],
      ["/v1/embeddings", "input"],
      ["/v1/responses", "input"],
      ["/v1/messages", "messages"],
      ["/v1/rerank", "documents"],
      ["/api/chat", "messages"],
      ["/api/generate", "options"],
      ["/api/embed", "input"],
    ] as const) {
      for (const levels of [10_000, 1_000_000]) {
        const body = `{"model":"m","${field}":${deep(levels)}}`;
        const answer = await fetch(url + path, { method: "POST", body });
        const text = await answer.text();
        expect([path, levels, answer.status]).toEqual([path, levels, 400]);
        expect(text).toMatch(/nested deeper than \d+ levels/);
      }
    }
    expect(a.asked).toEqual([]);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
  });

  it("is read without harm on the paths of the farm too", async () => {
    const { url } = await farm();
    for (const path of ["/farm/explain", "/api/show"]) {
      const body = `{"model":${deep(30_000)}}`;
      expect((await fetch(url + path, { method: "POST", body })).status).toBe(400);
      expect((await fetch(url + path, { method: "POST", body: `{"model":"${"m".repeat(70_000)}"}` })).status).toBe(413);
    }
  });

  it("has a model's name and a query of bounded length", async () => {
    const { url } = await farm();
    const long = "m".repeat(2_000);
    const chat = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: `{"model":"${long}"}` });
    expect(await errorOf(chat)).toMatchObject({ status: 400, code: "invalid_request" });
    const explained = await fetch(`${url}/farm/explain`, { method: "POST", body: `{"model":"${long}"}` });
    expect(explained.status).toBe(400);
    expect((await fetch(`${url}/v1/models/${"m".repeat(5_000)}`)).status).toBeGreaterThanOrEqual(400);
    expect((await fetch(`${url}/v1/models?${"a".repeat(40_000)}`)).status).toBe(431);
  });

  it.each([
    ["target", (url: string) => request(`${url}/${"a".repeat(40_000)}`)],
    ["header", (url: string) => request(url, { headers: { a: "a".repeat(40_000) } })],
    [
      "number of headers",
      (url: string) =>
        request(url, { headers: Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`a${i}`, "1"])) }),
    ],
  ])("has a %s of bounded size: 431", async (_what, make) => {
    const { url, a } = await farm();
    const status = await new Promise((resolve, reject) => {
      const sent = make(url);
      sent.on("response", (response) => resolve(response.resume().statusCode));
      sent.on("error", reject);
      sent.end();
    });
    expect(status).toBe(431);
    expect(a.asked).toEqual([]);
  });

  it("may be long in coming and have many headers, as clients behind proxies send them", async () => {
    const { url, port } = await farm();
    const headers = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`x-a-${i}`, "v".repeat(100)]));
    expect((await fetch(`${url}/v1/models`, { headers })).status).toBe(200);
    const socket = connect(port, "127.0.0.1");
    let heard = "";
    socket.on("data", (piece) => (heard += String(piece)));
    const bytes = "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    for (const byte of bytes) {
      socket.write(byte);
      await new Promise(setImmediate);
    }
    await until("it is answered", () => heard.includes("200 OK"));
    socket.destroy();
  });
});
