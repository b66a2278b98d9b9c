import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { fakeWorker } from "../support/fake-worker.ts";
import { agents, runGateway } from "../support/gateway.ts";

const CHAT = "/v1/chat/completions";

/** Status and body of one request with these headers. */
function ask(url: string, path: string, headers: Record<string, string>, body?: string) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const sent = request(url + path, { method, headers, agent: false }, (response) => {
      let text = "";
      response.on("data", (piece) => (text += String(piece)));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

async function farm(more: Record<string, unknown> = {}) {
  const a = await fakeWorker({ m: "warm" });
  const { url } = await runGateway({ workers: agents({ a }), ...more });
  return { url, a };
}

const EVIL = { host: "evil.example:8400" };
const FROM_EVIL = { ...EVIL, origin: "http://evil.example:8400" };

describe("a page whose name was made to lead to a farm without keys", () => {
  it("gets neither the farm's inside nor its first page, and is told why", async () => {
    const { url } = await farm();
    for (const path of ["/", "/metrics", "/farm/workers", "/farm/models", "/farm/requests"]) {
      const { status, text } = await ask(url, path, EVIL);
      expect([path, status]).toEqual([path, 403]);
      expect(JSON.parse(text)).toMatchObject({
        error: { code: "forbidden", message: expect.stringMatching(/`hosts`/) },
      });
      for (const host of ["localhost:8400", "127.0.0.1:8400", "[::1]", "farmbox"]) {
        expect([path, host, (await ask(url, path, { host })).status]).toEqual([path, host, 200]);
      }
    }
    expect((await ask(url, "/farm/explain", EVIL, '{"model":"m"}')).status).toBe(403);
    expect((await ask(url, "/farm/workers/a/drain", FROM_EVIL, "{}")).status).toBe(403);
  });

  it("may not ask a model, which programs by any name may", async () => {
    const { url, a } = await farm();
    expect((await ask(url, CHAT, FROM_EVIL, '{"model":"m"}')).status).toBe(403);
    expect((await ask(url, "/v1/models", FROM_EVIL)).status).toBe(403);
    expect((await ask(url, "/api/chat", FROM_EVIL, '{"model":"m"}')).status).toBe(403);
    expect(a.asked).toEqual([]);
    expect((await ask(url, CHAT, EVIL, '{"model":"m"}')).status).toBe(200);
    expect((await ask(url, "/v1/models", EVIL)).status).toBe(200);
    expect((await ask(url, "/health", FROM_EVIL)).status).toBe(200);
  });

  it("may not open a WebSocket", async () => {
    const { url } = await farm({ cors: { origins: ["http://chat.example"] } });
    const upgrade = {
      ...FROM_EVIL,
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    };
    expect((await ask(url, "/v1/realtime?model=m", upgrade)).status).toBe(403);
  });

  it("is let in by the owner: by its name, by its origin, or by a key", async () => {
    const listed = await farm({ hosts: ["*.example"] });
    expect((await ask(listed.url, "/metrics", EVIL)).status).toBe(200);
    expect((await ask(listed.url, CHAT, FROM_EVIL, '{"model":"m"}')).status).toBe(200);
    const known = await farm({ cors: { origins: ["http://evil.example:8400"] } });
    expect((await ask(known.url, CHAT, FROM_EVIL, '{"model":"m"}')).status).toBe(200);
    expect((await ask(known.url, "/metrics", FROM_EVIL)).status).toBe(403);
    const keyed = await farm({ keys: [{ name: "a", key: "a-key" }] });
    const withKey = { ...FROM_EVIL, authorization: "Bearer a-key" };
    expect((await ask(keyed.url, CHAT, withKey, '{"model":"m"}')).status).toBe(200);
    expect((await ask(keyed.url, "/metrics", withKey)).status).toBe(200);
    expect((await ask(keyed.url, "/", EVIL)).status).toBe(200);
  });
});

it("tells caches that an answer is for the page that asked, also where none did", async () => {
  const { url } = await farm();
  for (const path of ["/v1/models", "/farm/workers", "/health"]) {
    expect((await fetch(url + path)).headers.get("vary")).toBe("Origin");
  }
});
