import { request } from "node:http";
import { hashedKey } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { startRig } from "./support/agent-rig.ts";

const keys = [
  { name: "root", key: "root-key", admin: true },
  { name: "gate", key: hashedKey("gate-key") },
  { name: "bound", key: "bound-key", models: ["b"] },
];
const CALLERS = { nobody: null, stranger: "wrong-key", gate: "gate-key", bound: "bound-key", root: "root-key" };

/** Path -> status for: no key, a wrong one, a key, one that is bound to "b", an admin's. */
const MATRIX: readonly [string, string, readonly number[]][] = [
  ["GET", "/health", [200, 200, 200, 200, 200]],
  ["GET", "/metrics", [401, 401, 200, 200, 200]],
  ["GET", "/catalog", [401, 401, 200, 200, 200]],
  ["GET", "/v1/models", [401, 401, 200, 200, 200]],
  ["GET", "/v1/models/a", [401, 401, 200, 403, 200]],
  ["GET", "/models/a/log", [401, 401, 403, 403, 200]],
  ["POST", "/models/a/load", [401, 401, 202, 403, 202]],
  ["POST", "/models/a/unload", [401, 401, 403, 403, 501]],
  ["POST", "/drain", [401, 401, 403, 403, 200]],
  ["POST", "/resume", [401, 401, 403, 403, 200]],
  ["POST", "/v1/chat/completions", [401, 401, 200, 403, 200]],
  ["GET", "/nowhere", [404, 404, 404, 404, 404]],
];

/** Status of one request with these headers. */
function ask(method: string, url: string, headers: Record<string, string>, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const CHAT = JSON.stringify({ model: "a", max_tokens: 1, messages: [{ role: "user", content: "Hi" }] });

describe("what each key may do at an agent", () => {
  it("is the same on every path as it is written", async () => {
    const { agent } = await startRig({ config: { keys } });
    const found: (typeof MATRIX)[number][] = [];
    for (const [method, path] of MATRIX) {
      const statuses: number[] = [];
      for (const key of Object.values(CALLERS)) {
        const headers: Record<string, string> = key === null ? {} : { "x-api-key": key };
        statuses.push(await ask(method, agent.url + path, headers, path.startsWith("/v1/chat") ? CHAT : undefined));
      }
      found.push([method, path, statuses]);
    }
    expect(found).toEqual(MATRIX);
  });

  it("holds a key to its requests a minute, which loads and looks at the catalogue are not", async () => {
    const rig = await startRig({ config: { keys: [{ name: "k", key: "k-key", requestsPerMinute: 1 }] } });
    const { agent } = rig;
    const headers = { authorization: "Bearer k-key" };
    expect((await rig.chat("a", "Hi", { headers })).status).toBe(200);
    const refused = await rig.chat("a", "Hi", { headers });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(30);
    expect(await refused.json()).toMatchObject({ error: { code: "rate_limited" } });
    expect(await ask("GET", `${agent.url}/catalog`, headers)).toBe(200);
    expect(await ask("POST", `${agent.url}/models/b/load`, headers)).toBe(202);
  });

  it("lets an operator's address read its metrics without a key, and neither order nor ask", async () => {
    const { agent } = await startRig({ config: { keys, operators: ["127.0.0.1"] } });
    expect(await ask("GET", `${agent.url}/metrics`, {})).toBe(200);
    for (const path of ["/drain", "/resume", "/models/a/unload"]) {
      expect([path, await ask("POST", agent.url + path, {})]).toEqual([path, 403]);
    }
    expect(await ask("GET", `${agent.url}/models/a/log`, {})).toBe(403);
    expect(await ask("GET", `${agent.url}/catalog`, {})).toBe(401);
    expect(await ask("POST", `${agent.url}/v1/chat/completions`, {}, CHAT)).toBe(401);
  });
});

describe("a page whose name was made to lead to an agent without keys", () => {
  const EVIL = { host: "evil.example:8401" };
  const FROM_EVIL = { ...EVIL, origin: "http://evil.example:8401" };

  it("gets nothing of its inside and no answer of a model; a gateway that calls it by any name does", async () => {
    const { agent } = await startRig();
    expect(await ask("GET", `${agent.url}/metrics`, EVIL)).toBe(403);
    expect(await ask("GET", `${agent.url}/models/a/log`, EVIL)).toBe(403);
    for (const path of ["/drain", "/models/a/unload", "/models/a/load", "/v1/chat/completions"]) {
      expect([path, await ask("POST", agent.url + path, FROM_EVIL, CHAT)]).toEqual([path, 403]);
    }
    expect(await ask("GET", `${agent.url}/catalog`, EVIL)).toBe(200);
    expect(await ask("POST", `${agent.url}/models/a/load`, EVIL)).toBe(202);
    expect(await ask("POST", `${agent.url}/v1/chat/completions`, EVIL, CHAT)).toBe(200);
  });

  it("is let in by the owner", async () => {
    const { agent } = await startRig({ config: { hosts: ["evil.example"] } });
    expect(await ask("GET", `${agent.url}/metrics`, EVIL)).toBe(200);
    expect(await ask("POST", `${agent.url}/v1/chat/completions`, FROM_EVIL, CHAT)).toBe(200);
  });
});
