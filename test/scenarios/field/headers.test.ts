import { afterEach, describe, expect, it } from "vitest";
import { type Answers, chats, ITS_OWN, JSON_TYPE, startCorsFarm } from "../../harness/cors-farm.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { type RawAnswer, rawAsk } from "../../harness/raw-ask.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const PAGE = "http://localhost:3000";

const startFarm = (answers?: Answers, config?: Record<string, unknown>) => startCorsFarm(cleanup, answers, config);

describe("case 59, mostlygeek/llama-swap#42: a preflight", () => {
  it("is answered 204 with the methods, on every path and without a key", async () => {
    const { url, engine } = await startFarm(chats, { keys: [{ name: "alice", key: "secret" }] });
    for (const path of ["/v1/chat/completions", "/v1/models", "/api/chat", "/farm/workers", "/metrics", "/nowhere"]) {
      for (const method of ["POST", "GET", "DELETE"]) {
        const asked = { origin: PAGE, "access-control-request-method": method };
        const answer = await rawAsk("OPTIONS", url + path, asked);
        expect([path, answer.status, answer.body]).toEqual([path, 204, ""]);
        expect(answer.headers["access-control-allow-methods"]?.split(", ")).toContain(method);
        expect(answer.all("access-control-allow-origin")).toEqual([PAGE]);
        expect(answer.headers["x-request-id"]).toBeTruthy();
      }
    }
    expect(engine.heads).toEqual([]);
  });

  it("or any OPTIONS that is none tells the methods all the same", async () => {
    const { url } = await startFarm();
    const answer = await rawAsk("OPTIONS", `${url}/v1/chat/completions`, { "x-request-id": "mine" });
    expect(answer.status).toBe(204);
    expect(answer.headers.allow).toContain("POST");
    expect(answer.headers["x-request-id"]).toBe("mine");
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });
});

describe("case 60, mostlygeek/llama-swap#77: headers that a client of its own mind wants to send", () => {
  it("are allowed as asked, and what is no header's name is left out", async () => {
    const { url } = await startFarm();
    const names = ["authorization", "content-type", "x-stainless-os", "x-stainless-retry-count", "anthropic-version"];
    const asked = [...names, "bad name", "evil\tname", "<script>", ""].join(",");
    const answer = await rawAsk("OPTIONS", `${url}/v1/chat/completions`, {
      origin: PAGE,
      "access-control-request-method": "POST",
      "access-control-request-headers": asked,
      "access-control-request-private-network": "true",
    });
    expect(answer.headers["access-control-allow-headers"]?.split(", ")).toEqual(names);
    expect(answer.headers["access-control-allow-private-network"]).toBe("true");
  });
});

describe("case 61, mostlygeek/llama-swap#24 and #1121: CORS headers", () => {
  const keys = [
    { name: "alice", key: "secret", admin: true },
    { name: "bob", key: "bobs", models: ["other"] },
  ];
  const mine = { authorization: "Bearer secret" };

  /** Every kind of answer that a page may get. */
  async function answersTo(origin: string) {
    const { url, chat } = await startFarm(
      (request, response, asked) => {
        const { "x-slow": slow, "x-fail": fail } = request.headers;
        if (slow !== undefined) setTimeout(() => chats(request, response, asked), 1_500);
        else if (fail === undefined) chats(request, response, asked);
        else response.writeHead(Number(fail), { ...JSON_TYPE, ...ITS_OWN }).end('{"error":{"message":"no"}}');
      },
      { keys, limits: { body: "4kb" }, retry: { attempts: 1 }, sseComments: "100ms" },
    );
    const as = { origin, ...mine };
    const path = (method: string, of: string, body?: string) => rawAsk(method, url + of, { ...JSON_TYPE, ...as }, body);
    const answers: Record<string, Promise<RawAnswer>> = {
      "200 whole": chat(as),
      "200 stream": chat(as, { model: "m", messages: [], stream: true }),
      "200 stream that was begun with a comment": chat(
        { ...as, "x-slow": "1" },
        { model: "m", messages: [], stream: true },
      ),
      "200 dry run": chat({ ...as, "x-farmgate-dry-run": "1" }),
      "200 list": path("GET", "/v1/models"),
      "200 model": path("GET", "/v1/models/m"),
      "200 head": path("HEAD", "/v1/models"),
      "200 root": path("GET", "/"),
      "200 metrics": path("GET", "/metrics"),
      "200 tags": path("GET", "/api/tags"),
      "200 show": path("POST", "/api/show", '{"model":"m"}'),
      "501 pull": path("POST", "/api/pull", '{"model":"m"}'),
      "200 health": path("GET", "/health"),
      "400 by the worker": chat({ ...as, "x-fail": "400" }),
      "400 no JSON": chat(as, "{"),
      "400 no JSON for explain": path("POST", "/farm/explain", "{"),
      "401 chat": chat({ origin, authorization: "Bearer wrong" }),
      "401 list": rawAsk("GET", `${url}/v1/models`, { origin }),
      "403 model": chat({ origin, authorization: "Bearer bobs" }),
      "404 model": chat(as, { model: "none", messages: [] }),
      "404 path": path("GET", "/nowhere"),
      "404 post": path("POST", "/nowhere", "{}"),
      "405 inference": path("GET", "/v1/chat/completions"),
      "405 control": path("POST", "/v1/models", "{}"),
      "413 inference": chat(as, "x".repeat(5_000)),
      "413 control": path("POST", "/farm/explain", "x".repeat(70_000)),
      "502 by the worker": chat({ ...as, "x-fail": "500" }),
      "503 by the worker": chat({ ...as, "x-fail": "503" }),
    };
    return Promise.all(Object.entries(answers).map(async ([what, answer]) => [what, await answer] as const));
  }

  it("stand once on every answer, errors and streams too, and a worker's own on none", async () => {
    for (const [what, answer] of await answersTo(PAGE)) {
      expect([what, answer.status]).toEqual([what, Number(what.slice(0, 3))]);
      expect([what, answer.all("access-control-allow-origin")]).toEqual([what, [PAGE]]);
      expect([what, answer.all("access-control-expose-headers").length]).toEqual([what, 1]);
      expect([what, answer.headers["access-control-expose-headers"]]).toEqual([
        what,
        expect.stringMatching(/x-request-id.*retry-after.*x-should-retry.*x-farmgate-worker/),
      ]);
      expect([what, answer.headers["access-control-allow-credentials"]]).toEqual([what, undefined]);
      expect([what, answer.headers["set-cookie"]]).toEqual([what, undefined]);
      const varies = (answer.headers.vary ?? "").toLowerCase().split(/, */);
      expect([what, varies.filter((name) => name === "origin")]).toEqual([what, ["origin"]]);
      expect([what, answer.all("x-request-id")]).toEqual([what, [expect.stringMatching(/^req_/)]]);
    }
  });

  it("are on none for a page that is not allowed, and say so to caches", async () => {
    for (const [what, answer] of await answersTo("https://elsewhere.example")) {
      expect([what, answer.all("access-control-allow-origin")]).toEqual([what, []]);
      expect([what, answer.headers.vary?.toLowerCase()]).toEqual([what, expect.stringContaining("origin")]);
    }
  });
});

describe("case 62, mostlygeek/llama-swap#436: the key of the farm and the key of a worker", () => {
  it("are two: the caller's is checked and goes no further, the worker gets its own, and neither is told", async () => {
    const { url, chat, engine, gateway } = await startFarm(chats, { keys: [{ name: "alice", key: "callers-secret" }] });
    const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
    const good = [
      { authorization: "Bearer callers-secret" },
      { authorization: "bearer  callers-secret" },
      { "x-api-key": "callers-secret" },
      { authorization: basic("anyone:callers-secret") },
      { authorization: basic("callers-secret:") },
    ] as Record<string, string>[];
    for (const headers of good) {
      expect((await chat(headers)).status).toBe(200);
      expect((await rawAsk("GET", `${url}/v1/models`, headers)).status).toBe(200);
      expect((await rawAsk("GET", `${url}/api/tags`, headers)).status).toBe(200);
      const ollama = await rawAsk("POST", `${url}/api/chat`, { ...JSON_TYPE, ...headers }, '{"model":"none"}');
      expect(ollama.status).toBe(404);
    }
    for (const head of engine.heads) {
      expect(head.authorization).toBe("Bearer worker-secret");
      expect(head["x-api-key"]).toBeUndefined();
    }
    const bad = [{}, { authorization: "Bearer wrong-secret" }, { authorization: basic("alice:wrong-secret") }];
    for (const headers of bad as Record<string, string>[]) {
      const refused = await chat(headers);
      expect(refused.status).toBe(401);
      expect(refused.headers["www-authenticate"]).toBe("Bearer");
      expect(JSON.parse(refused.body)).toMatchObject({ error: { code: "invalid_api_key" } });
      const ollama = await rawAsk("POST", `${url}/api/chat`, { ...JSON_TYPE, ...headers }, '{"model":"m"}');
      expect([ollama.status, JSON.parse(ollama.body)]).toEqual([401, { error: expect.any(String) }]);
      const anthropic = await rawAsk("POST", `${url}/v1/messages`, { ...JSON_TYPE, ...headers }, '{"model":"m"}');
      expect(JSON.parse(anthropic.body)).toMatchObject({ type: "error", error: { type: "authentication_error" } });
      expect(refused.body + ollama.body + anthropic.body).not.toMatch(/secret/);
    }
    await gateway.stop();
    expect(gateway.output()).toContain('"request"');
    expect(gateway.output()).not.toMatch(/secret/);
  });
});

describe("case 63, ngrok/ngrok-docs#1400: an engine that answers only to its own name", () => {
  it("is asked by it, whatever the farm was called", async () => {
    const { chat, engine } = await startFarm((request, response, asked) => {
      if (request.headers.host === engine.host) return chats(request, response, asked);
      response.writeHead(403).end();
    });
    for (const host of ["farm.lan", "farm.lan:8400", "something.ngrok-free.app"]) {
      expect((await chat({ host })).status).toBe(200);
    }
    expect(new Set(engine.heads.map((head) => head.host))).toEqual(new Set([engine.host]));
    for (const head of engine.heads) expect(head["x-forwarded-host"]).toBeUndefined();
  });
});

describe("case 64, thushan/olla#104: an engine without a route for its health", () => {
  it("is healthy by its list of models", async () => {
    const { url, chat } = await startFarm();
    const { body } = await rawAsk("GET", `${url}/farm/workers`);
    expect(JSON.parse(body)).toMatchObject({ workers: [{ name: "box", state: "healthy", catalog: "fresh" }] });
    expect((await chat()).status).toBe(200);
  });
});

describe("clients of their own manners", () => {
  it("get their x-request-id back on every answer; one that no log should hold is replaced", async () => {
    const { url, chat } = await startFarm();
    const mine = { "x-request-id": "my-id.1:2_3" };
    const answers = [
      await chat(mine),
      await chat(mine, { model: "m", messages: [], stream: true }),
      await chat(mine, "{"),
      await rawAsk("GET", `${url}/v1/models`, mine),
      await rawAsk("GET", `${url}/v1/models/none`, mine),
      await rawAsk("GET", `${url}/nowhere`, mine),
      await rawAsk("PUT", `${url}/v1/models`, mine),
      await rawAsk("PUT", `${url}/v1/chat/completions`, mine),
    ];
    for (const answer of answers) expect(answer.all("x-request-id")).toEqual(["my-id.1:2_3"]);
    for (const odd of ["a b", "x".repeat(129), '"quoted"']) {
      const answer = await chat({ "x-request-id": odd });
      expect(answer.all("x-request-id")).toEqual([expect.stringMatching(/^req_/)]);
    }
  });

  it("get HEAD answered as GET, without the body, on every path that takes GET", async () => {
    const { url } = await startFarm();
    const paths = [
      "/",
      "/livez",
      "/readyz",
      "/health",
      "/metrics",
      "/v1/models",
      "/v1/models/m",
      "/v1/models/none",
      "/api/tags",
      "/api/ps",
      "/api/version",
    ];
    for (const path of [...paths, "/farm/workers", "/farm/models", "/farm/requests", "/nowhere"]) {
      const [head, get] = [await rawAsk("HEAD", url + path), await rawAsk("GET", url + path)];
      expect([path, head.status, head.body]).toEqual([path, get.status, ""]);
      expect([path, head.headers["content-type"]]).toEqual([path, get.headers["content-type"]]);
    }
    for (const path of ["/v1/chat/completions", "/farm/explain"]) {
      const head = await rawAsk("HEAD", url + path);
      expect([path, head.status, head.headers.allow, head.body]).toEqual([path, 405, "POST", ""]);
    }
  });

  it("hear by a 405 which methods there are", async () => {
    const { url } = await startFarm();
    const told = async (method: string, path: string) => {
      const { status, headers } = await rawAsk(method, url + path);
      return [status, headers.allow];
    };
    expect(await told("DELETE", "/v1/models")).toEqual([405, "GET, HEAD"]);
    expect(await told("GET", "/farm/workers/box/drain")).toEqual([405, "POST"]);
    expect(await told("GET", "/v1/embeddings")).toEqual([405, "POST"]);
    expect(await told("GET", "/farm/requests/x")).toEqual([405, "DELETE"]);
  });

  it("hear when to come again, never later than they wait for; and where that is of no use, not to", async () => {
    const busy = await startFarm((_request, response) => {
      response.writeHead(503, { ...JSON_TYPE, "retry-after": "300" }).end('{"error":{"message":"busy"}}');
    });
    const later = await busy.chat();
    expect([later.status, later.headers["retry-after"], later.headers["x-should-retry"]]).toEqual([
      503,
      "60",
      undefined,
    ]);
    const silent = await startFarm(() => {}, { timeouts: { firstByte: "3s" } });
    const never = await silent.chat();
    expect([never.status, never.headers["retry-after"], never.headers["x-should-retry"]]).toEqual([
      504,
      undefined,
      "false",
    ]);
    const late = await silent.chat({ "x-farmgate-deadline-ms": "50" });
    expect([late.status, late.headers["retry-after"], late.headers["x-should-retry"]]).toEqual([
      503,
      undefined,
      "false",
    ]);
  });
});
