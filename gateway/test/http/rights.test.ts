import { describe, expect, it } from "vitest";
import { fakeWorker } from "../support/fake-worker.ts";
import { agents, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const keys = [
  { name: "root", key: "root-key", admin: true },
  { name: "any", key: "any-key" },
  { name: "bound", key: "bound-key", models: ["small"] },
];
const CALLERS = { nobody: null, stranger: "wrong-key", any: "any-key", bound: "bound-key", root: "root-key" };

/** Path -> status for: no key, a wrong one, a key, one that is bound to "small", an admin's. */
const MATRIX: readonly [string, string, string | null, readonly number[]][] = [
  ["GET", "/", null, [200, 200, 200, 200, 200]],
  ["GET", "/livez", null, [200, 200, 200, 200, 200]],
  ["GET", "/readyz", null, [200, 200, 200, 200, 200]],
  ["GET", "/health", null, [200, 200, 200, 200, 200]],
  ["GET", "/metrics", null, [401, 401, 200, 200, 200]],
  ["GET", "/v1/models", null, [401, 401, 200, 200, 200]],
  ["GET", "/v1/models/big", null, [401, 401, 200, 404, 200]],
  ["GET", "/api/version", null, [401, 401, 200, 200, 200]],
  ["GET", "/api/tags", null, [401, 401, 200, 200, 200]],
  ["GET", "/api/ps", null, [401, 401, 200, 200, 200]],
  ["POST", "/api/show", '{"model":"big"}', [401, 401, 200, 404, 200]],
  ["GET", "/farm/workers", null, [401, 401, 200, 200, 200]],
  ["GET", "/farm/models", null, [401, 401, 200, 200, 200]],
  ["GET", "/farm/requests", null, [401, 401, 200, 200, 200]],
  ["POST", "/farm/explain", '{"model":"small"}', [401, 401, 200, 200, 200]],
  ["POST", "/farm/explain", '{"model":"big"}', [401, 401, 200, 403, 200]],
  ["DELETE", "/farm/requests/nothing", null, [401, 401, 404, 404, 404]],
  ["POST", "/farm/workers/b/drain", null, [401, 401, 403, 403, 200]],
  ["POST", "/farm/workers/b/resume", null, [401, 401, 403, 403, 200]],
  ["POST", "/v1/chat/completions", '{"model":"small"}', [401, 401, 200, 200, 200]],
  ["POST", "/v1/chat/completions", '{"model":"big"}', [401, 401, 200, 403, 200]],
  ["POST", "/v1/messages", '{"model":"big"}', [401, 401, 400, 403, 400]],
  ["POST", "/v1/embeddings", '{"model":"big","input":"x"}', [401, 401, 200, 403, 200]],
  ["POST", "/api/pull", '{"model":"big"}', [401, 401, 501, 501, 501]],
  ["GET", "/nowhere", null, [404, 404, 404, 404, 404]],
];

interface Named {
  id?: string;
  name?: string;
  models?: Named[];
}

type Lists = { workers?: Named[]; models?: Named[]; data?: Named[] };

async function farm(more: Record<string, unknown> = {}) {
  const a = await fakeWorker({ small: "warm" });
  const b = await fakeWorker({ big: "warm", "big-2": "cold" });
  const gateway = await runGateway({ workers: agents({ a, b }), keys, ...more });
  await until("its catalogues are there", async () => (await fetch(`${gateway.url}/readyz`)).ok);
  return gateway;
}

function ask(url: string, method: string, key: string | null, body: string | null = null) {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  return fetch(url, { method, headers, body });
}

describe("what each key may do", () => {
  it("is the same on every path as it is written", async () => {
    const { url } = await farm();
    const found: typeof MATRIX = await Promise.all(
      MATRIX.map(async ([method, path, body]) => {
        const answers = Object.values(CALLERS).map(async (key) => {
          const answer = await ask(url + path, method, key, body);
          await answer.arrayBuffer();
          return answer.status;
        });
        return [method, path, body, await Promise.all(answers)] as const;
      }),
    );
    expect(found).toEqual(MATRIX);
  });

  it("shows a key the models that it may use, and an admin's all", async () => {
    const { url } = await farm();
    const shown = async (key: string) => {
      const read = async (path: string) => (await (await ask(url + path, "GET", key)).json()) as Lists;
      const { workers = [] } = await read("/farm/workers");
      const [models, list, tags] = await Promise.all(["/farm/models", "/v1/models", "/api/tags"].map(read));
      const named = (entries: readonly Named[] = []) => entries.map(({ id, name }) => id ?? name);
      return {
        workers: workers.map((worker) => [worker.name, named(worker.models)]),
        models: named(models?.models),
        list: named(list?.data),
        tags: named(tags?.models),
      };
    };
    const all = { models: ["small", "big", "big-2"], list: ["big", "big-2", "small"] };
    expect(await shown("root-key")).toMatchObject({
      ...all,
      workers: [
        ["a", ["small"]],
        ["b", ["big", "big-2"]],
      ],
    });
    expect(await shown("any-key")).toMatchObject(all);
    expect(await shown("bound-key")).toEqual({
      workers: [["a", ["small"]]],
      models: ["small"],
      list: ["small"],
      tags: ["small:latest"],
    });
  });

  it("tells a key nothing of models that it may not use, whatever it asks for", async () => {
    const { url } = await farm();
    for (const [path, body] of [
      ["/farm/explain", { model: "bigg" }],
      ["/v1/chat/completions", { model: "big-3", messages: [] }],
      ["/api/show", { model: "big" }],
      ["/v1/rerank", { model: "small", query: "q", documents: ["d"] }],
      ["/v1/chat/completions", { messages: [] }],
    ] as const) {
      const text = await (await ask(url + path, "POST", "bound-key", JSON.stringify(body))).text();
      const told = text.replaceAll(body && "model" in body ? body.model : "\0", "");
      expect([path, told]).toEqual([path, expect.not.stringMatching(/big/)]);
    }
  });

  it("lets an operator's address read without a key, and neither change nor ask", async () => {
    const { url } = await farm({ operators: ["127.0.0.0/8"] });
    for (const path of ["/metrics", "/farm/workers", "/farm/models", "/farm/requests"]) {
      expect([path, (await ask(url + path, "GET", null)).status]).toEqual([path, 200]);
    }
    expect((await ask(`${url}/farm/explain`, "POST", null, '{"model":"big"}')).status).toBe(200);
    expect((await ask(`${url}/metrics`, "GET", "wrong-key")).status).toBe(401);
    expect((await ask(`${url}/farm/workers/b/drain`, "POST", null)).status).toBe(403);
    expect((await ask(`${url}/farm/requests/x`, "DELETE", null)).status).toBe(403);
    expect((await ask(`${url}/v1/models`, "GET", null)).status).toBe(401);
    expect((await ask(`${url}/v1/chat/completions`, "POST", null, '{"model":"small"}')).status).toBe(401);
    const proxied = await fetch(`${url}/metrics`, { headers: { "x-forwarded-for": "127.0.0.1" } });
    expect(proxied.status).toBe(401);
  });
});
