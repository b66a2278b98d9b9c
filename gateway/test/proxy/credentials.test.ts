import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { cleanup } from "../support/cleanup.ts";
import { runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const SECRET = "callers-own-secret";

/** Every way in which a caller may send a secret; its key is the first that is looked at. */
const HEADERS: Readonly<Record<string, string>> = {
  authorization: `Bearer ${SECRET}`,
  "proxy-authorization": `Basic ${Buffer.from(`u:${SECRET}`).toString("base64")}`,
  "x-api-key": SECRET,
  "api-key": SECRET,
  "x-goog-api-key": SECRET,
  "x-auth-token": SECRET,
  "x-forwarded-access-token": SECRET,
  "cf-access-jwt-assertion": SECRET,
  cookie: `session=${SECRET}`,
  "x-farmgate-caller": SECRET,
  "x-farmgate-hop": "0",
  "x-farmgate-worker": SECRET,
  te: "trailers",
  connection: "close, x-private",
  "x-private": SECRET,
};
const QUERY = `?api_key=${SECRET}&a=1&key=${SECRET}&access_token=${SECRET}`;

const LISTS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  vllm: { "/v1/models": { object: "list", data: [{ id: "m", object: "model", owned_by: "vllm" }] } },
  openai: { "/v1/models": { object: "list", data: [{ id: "m", object: "model" }] } },
  "llama-server": {
    "/v1/models": {
      object: "list",
      data: [{ id: "m", object: "model", owned_by: "llamacpp", status: { value: "loaded" } }],
    },
    "/props": {},
  },
  lmstudio: { "/api/v0/models": { data: [{ id: "m", type: "llm", state: "loaded" }] } },
  ollama: { "/api/tags": { models: [{ name: "m:latest", model: "m:latest" }] }, "/api/ps": { models: [] } },
  agent: {
    "/catalog": {
      protocol: 1,
      worker: "a",
      version: "0",
      draining: false,
      models: [{ id: "m", kind: "chat", state: "warm" }],
      queue: { depth: 0, swapping_to: null },
    },
  },
};

interface Seen {
  method: string;
  url: string;
  rawHeaders: string[];
}

/** An engine of this kind, and all that it was asked. */
async function engineOf(kind: string) {
  const seen: Seen[] = [];
  const server = createServer((asked, response) => {
    const { url = "", rawHeaders, method = "" } = asked;
    seen.push({ method, url, rawHeaders });
    asked.resume();
    const found = LISTS[kind]?.[url.split("?")[0] ?? ""];
    response.setHeader("content-type", "application/json");
    // What a worker may say of connections, of its own cookies, and in our name.
    response.setHeader("x-farmgate-worker", "made-up");
    response.setHeader("set-cookie", "a=b");
    response.setHeader("x-hop", "1");
    response.setHeader("connection", "x-hop, keep-alive");
    if (method === "POST") response.end('{"choices":[{"message":{"role":"assistant","content":"x"}}],"done":true}');
    else if (found === undefined) response.writeHead(404).end("{}");
    else response.end(JSON.stringify(found));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup(() => server.closeAllConnections());
  cleanup(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

async function farmOver(kind: string, worker: Record<string, unknown> = {}) {
  const engine = await engineOf(kind);
  const workers = [{ name: "w", url: engine.url, engine: kind, ...worker }];
  const gateway = await runGateway({ workers, keys: [{ name: "alice", key: SECRET }] });
  await until("its catalogue is there", async () => (await fetch(`${gateway.url}/readyz`)).ok);
  return { ...engine, gateway };
}

describe.each(Object.keys(LISTS))("a worker that is %s", (kind) => {
  it.each(["/v1/chat/completions", "/v1/messages", "/api/chat"])(
    "never sees what its caller of %s is known by",
    async (path) => {
      const { gateway, seen } = await farmOver(kind, { apiKey: "workers-key" });
      const body = JSON.stringify({
        model: "m",
        max_tokens: 1,
        stream: false,
        messages: [{ role: "user", content: "x" }],
      });
      const answer = await ask(gateway.url + path + QUERY, body);
      const asked = seen.find(({ method }) => method === "POST");
      expect(answer.status).toBe(200);
      expect(JSON.stringify(seen)).not.toContain(SECRET);
      expect(JSON.stringify(seen)).not.toContain(Buffer.from(SECRET).toString("base64").slice(0, 20));
      const own = asked?.rawHeaders.map((name, i) => (i % 2 === 0 ? name.toLowerCase() : name)) ?? [];
      expect(own).toContain("Bearer workers-key");
      expect(own.filter((name) => name === "authorization")).toHaveLength(1);
      expect(own).not.toContain("x-private");
      expect(own.includes("x-farmgate-caller")).toBe(kind === "agent");
      expect(own.includes("alice")).toBe(kind === "agent");
      // Nor does its caller see what is between the two of them.
      for (const name of ["set-cookie", "x-hop"]) expect(answer.headers[name]).toBeUndefined();
      expect(answer.headers["x-farmgate-worker"]).toBe("w");
    },
  );
});

function ask(url: string, body: string): Promise<{ status: number; headers: IncomingMessage["headers"] }> {
  return new Promise((resolve, reject) => {
    const headers = { ...HEADERS, "content-type": "application/json" };
    const sent = request(url, { method: "POST", agent: false, headers }, (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, headers: response.headers });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

describe("a worker without a key of its own", () => {
  it("gets none, and none of the caller's", async () => {
    const { gateway, seen } = await farmOver("openai");
    await ask(`${gateway.url}/v1/chat/completions`, '{"model":"m","messages":[]}');
    const names = seen.find(({ method }) => method === "POST")?.rawHeaders.map((name) => name.toLowerCase());
    expect(names).not.toContain("authorization");
    expect(JSON.stringify(seen)).not.toContain(SECRET);
  });
});
