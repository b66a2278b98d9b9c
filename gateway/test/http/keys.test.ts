import { request } from "node:http";
import { hashedKey } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { cleanup } from "../support/cleanup.ts";
import { fakeWorker, hangs } from "../support/fake-worker.ts";
import { agents, chat, configOf, errorOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const keys = [
  { name: "alice", key: "alice-key", admin: true },
  { name: "bob", key: "bob-key", models: ["small*"], maxConcurrent: 1 },
];
const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

describe("a farm with keys", () => {
  it("takes a key as Bearer, x-api-key or Basic password, and nothing else", async () => {
    const worker = await fakeWorker({ small: "warm" });
    const gateway = await runGateway({ workers: agents({ a: worker }), keys });
    const basic = `Basic ${Buffer.from("x:alice-key").toString("base64")}`;
    for (const headers of [
      { authorization: "bearer alice-key" },
      { "x-api-key": "alice-key" },
      { authorization: basic },
    ]) {
      expect((await chat(gateway, { model: "small" }, { headers })).status).toBe(200);
    }
    for (const headers of [{}, { authorization: "Bearer nope" }, { authorization: "alice-key" }, { "x-api-key": "" }]) {
      const response = await chat(gateway, { model: "small" }, { headers });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(await errorOf(response)).toMatchObject({ status: 401, code: "invalid_api_key" });
    }
  });

  it("asks for one everywhere but for its health", async () => {
    const gateway = await runGateway({ keys });
    for (const path of ["/v1/models", "/v1/models/x", "/metrics", "/farm/workers", "/farm/requests"]) {
      expect((await fetch(gateway.url + path)).status).toBe(401);
    }
    for (const path of ["/", "/livez"]) expect((await fetch(gateway.url + path)).status).toBe(200);
    expect((await fetch(`${gateway.url}/health`)).status).toBe(503);
  });

  it("keeps a key to its models, in requests and in the list", async () => {
    const worker = await fakeWorker({ small: "warm", big: "warm" });
    const gateway = await runGateway({ workers: agents({ a: worker }), keys });
    expect(await errorOf(await chat(gateway, { model: "big" }, as("bob-key")))).toMatchObject({
      status: 403,
      code: "model_not_allowed",
    });
    const list = async (key: string) => {
      const answer = (await (await fetch(`${gateway.url}/v1/models`, as(key))).json()) as { data: { id: string }[] };
      return answer.data.map(({ id }) => id);
    };
    expect(await list("bob-key")).toEqual(["small"]);
    expect(await list("alice-key")).toEqual(["big", "small"]);
    expect((await fetch(`${gateway.url}/v1/models/big`, as("bob-key"))).status).toBe(404);
  });

  it("holds a key to its number of requests at once", async () => {
    const worker = await fakeWorker({ small: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }), keys });
    const leaving = new AbortController();
    void chat(gateway, { model: "small" }, { ...as("bob-key"), signal: leaving.signal }).catch(() => {});
    await until("one is under way", () => worker.asked.length === 1);
    const refused = await chat(gateway, { model: "small" }, as("bob-key"));
    // Nothing has ended yet, so that nobody knows better.
    expect(["4", "5", "6", "7"]).toContain(refused.headers.get("retry-after"));
    expect(await errorOf(refused)).toMatchObject({ status: 429, code: "rate_limited" });
    leaving.abort();
    worker.answer = ({ response }) => {
      response.end("{}");
    };
    await until(
      "its place is free again",
      async () => (await chat(gateway, { model: "small" }, as("bob-key"))).status === 200,
    );
  });

  it("lets only an admin change the farm and see others' requests", async () => {
    const worker = await fakeWorker({ small: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }), keys });
    void chat(gateway, { model: "small" }, { headers: { ...as("alice-key").headers, "x-request-id": "hers" } }).catch(
      () => {},
    );
    await until("one is under way", () => worker.asked.length === 1);
    const ask = (method: string, path: string, key: string) => fetch(gateway.url + path, { method, ...as(key) });
    expect((await ask("POST", "/farm/workers/a/drain", "bob-key")).status).toBe(403);
    expect((await ask("DELETE", "/farm/requests/hers", "bob-key")).status).toBe(404);
    expect(await (await ask("GET", "/farm/requests", "bob-key")).json()).toEqual({ requests: [] });
    expect(await (await ask("GET", "/farm/requests", "alice-key")).json()).toMatchObject({
      requests: [{ id: "hers" }],
    });
    expect((await ask("DELETE", "/farm/requests/hers", "alice-key")).status).toBe(200);
    expect((await ask("POST", "/farm/workers/a/drain", "alice-key")).status).toBe(200);
  });

  it("holds a key to its requests a minute, tells what is left, and forgets nothing over a reload", async () => {
    const worker = await fakeWorker({ small: "warm" });
    worker.answer = ({ response }) => {
      response.writeHead(200, { "x-ratelimit-limit-requests": "7", "x-ratelimit-limit-tokens": "9" }).end("{}");
    };
    const rated = { workers: agents({ a: worker }), keys: [{ name: "carl", key: "carl-key", requestsPerMinute: 2 }] };
    const gateway = await runGateway({ ...rated, listen: { port: 0 } });
    const limit = ({ headers }: Response) => {
      return ["limit", "remaining", "reset"].map((name) => headers.get(`x-ratelimit-${name}-requests`));
    };
    const first = await chat(gateway, { model: "small" }, as("carl-key"));
    expect(limit(first)).toEqual(["2", "1", expect.stringMatching(/^(29\d\d\d|30000)ms$/)]);
    expect(first.headers.get("x-ratelimit-limit-tokens")).toBe("9");
    // Control paths cost nothing.
    for (const _ of [1, 2, 3]) expect((await fetch(`${gateway.url}/v1/models`, as("carl-key"))).status).toBe(200);
    const dry = { headers: { ...as("carl-key").headers, "x-farmgate-dry-run": "1" } };
    expect(limit(await chat(gateway, { model: "small" }, dry))[1]).toBe("0");
    const refused = await chat(gateway, { model: "small" }, as("carl-key"));
    expect(limit(refused).slice(0, 2)).toEqual(["2", "0"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(20);
    expect(await errorOf(refused)).toMatchObject({ status: 429, code: "rate_limited" });
    gateway.reload(configOf({ ...rated, retry: { attempts: 2 } }));
    expect((await chat(gateway, { model: "small" }, as("carl-key"))).status).toBe(429);
    const asOllama = await fetch(`${gateway.url}/api/chat`, { method: "POST", body: "{}", ...as("carl-key") });
    expect(asOllama.status).toBe(429);
    expect(worker.asked).toHaveLength(1);
  });

  it("refuses a request over its key's limit before its body has come", async () => {
    const gateway = await runGateway({ keys: [{ name: "carl", key: "carl-key", requestsPerMinute: 1 }] });
    await chat(gateway, "{}", as("carl-key"));
    const sent = request(`${gateway.url}/v1/chat/completions`, { method: "POST", ...as("carl-key") });
    sent.on("error", () => {});
    cleanup(() => sent.destroy());
    const status = new Promise((resolve) => sent.once("response", ({ statusCode }) => resolve(statusCode)));
    sent.write('{"model":');
    expect(await status).toBe(429);
  });

  it("knows a key by its hash alone", async () => {
    const worker = await fakeWorker({ small: "warm" });
    const hash = hashedKey("dora-key");
    const gateway = await runGateway({ workers: agents({ a: worker }), keys: [{ name: "dora", key: hash }] });
    expect((await chat(gateway, { model: "small" }, as("dora-key"))).status).toBe(200);
    expect((await chat(gateway, { model: "small" }, as(hash))).status).toBe(401);
  });
});
