import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer, type Socket } from "node:net";
import { seededRandom } from "@farmgate/shared";
import { createSystemClock } from "@farmgate/wire";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CatalogPoller } from "../../src/catalog/poller.ts";
import { CatalogStore } from "../../src/catalog/store.ts";
import type { WorkerConfig, WorkerEntry } from "../../src/catalog/types.ts";
import { recordedAnswer } from "../../../engines/test/recorded-answer.ts";
import { workerConfig } from "./farm.ts";

const INTERVAL = 50;
/** Far beyond what a busy machine needs for an answer. */
const TIMEOUT = 10_000;
/** For workers that are not going to answer. */
const HASTY = 200;
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A server on a free port (or on `port`), ended with the test. */
async function listen(server: Server | TcpServer, port = 0): Promise<{ port: number; end(): Promise<void> }> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const end = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  cleanups.push(end);
  return { port: (server.address() as AddressInfo).port, end };
}

async function serve(handler: RequestListener, port = 0) {
  return listen(createServer(handler), port);
}

/** Routes by path: JSON with 200, a number as that status, anything else by hand. */
function routes(table: Record<string, unknown>, asked: string[] = []): RequestListener {
  return (request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const entry = table[path];
    if (typeof entry === "function") return (entry as RequestListener)(request, response);
    if (typeof entry === "number" || entry === undefined) return response.writeHead(entry ?? 404).end();
    response.end(typeof entry === "string" ? entry : JSON.stringify(entry));
  };
}

function start(...workers: WorkerConfig[]) {
  return startWith(TIMEOUT, ...workers);
}

function startWith(timeoutMs: number, ...workers: WorkerConfig[]) {
  const clock = createSystemClock();
  const store = new CatalogStore(clock, { unhealthyAfter: 3, healthyAfter: 1 });
  const poller = new CatalogPoller({ clock, random: seededRandom(7), apply: (event) => store.apply(event) });
  cleanups.push(() => poller.stop());
  poller.configure(workers, { intervalMs: INTERVAL, timeoutMs });
  return { store, poller, clock, worker: (name: string) => find(store, name) };
}

function find(store: CatalogStore, name: string): WorkerEntry {
  const found = store.current.workers.find((worker) => worker.config.name === name);
  if (found === undefined) throw new Error(`no worker ${name}`);
  return found;
}

const at = (port: number, engine: WorkerConfig["engine"] = "agent", name = "a") =>
  workerConfig(name, { url: `http://127.0.0.1:${port}`, engine });
const until = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 10 });
const catalog = (...ids: string[]) => ({ protocol: 1, models: ids.map((id) => ({ id, state: "warm" })) });

describe("the poller", () => {
  it("knows every worker's catalogue after the first round, whatever engine stands there", async () => {
    const agent = await serve(routes({ "/catalog": catalog("coder") }));
    const ollama = await serve(
      routes({
        "/": "Ollama is running",
        "/api/tags": { models: [{ name: "llama3.2:latest" }, { name: "qwen3:8b" }] },
        "/api/ps": { models: [{ name: "qwen3:8b" }] },
      }),
    );
    const { store, poller, worker } = start(at(agent.port, "auto"), at(ollama.port, "auto", "b"));
    await poller.firstRound;
    expect(worker("a")).toMatchObject({ engine: "agent", health: "healthy", catalog: "fresh" });
    expect(worker("b")).toMatchObject({ engine: "ollama", health: "healthy" });
    expect([...store.current.union.values()].map(({ id, warm }) => [id, warm])).toEqual([
      ["coder", ["a"]],
      ["llama3.2", []],
      ["qwen3:8b", ["b"]],
    ]);
  });

  it("notices a changed catalogue within one poll", async () => {
    const table = { "/catalog": catalog("old") };
    const { port } = await serve(routes(table));
    const { store, poller } = start(at(port));
    await poller.firstRound;
    table["/catalog"] = catalog("new");
    await until(() => expect([...store.current.union.keys()]).toEqual(["new"]));
  });

  it("keeps a worker in whose catalogue answers 500, and says so", async () => {
    const table: Record<string, unknown> = { "/catalog": catalog("m") };
    const { port } = await serve(routes(table));
    const { store, poller, worker } = start(at(port));
    await poller.firstRound;
    table["/catalog"] = 500;
    await until(() =>
      expect(worker("a")).toMatchObject({
        health: "healthy",
        catalog: "unreachable",
        problem: "/catalog answered 500",
      }),
    );
    expect(store.current.union.has("m")).toBe(true);
  });

  it.each([
    [
      "a redirect",
      (_: unknown, response: { writeHead: Function }) => response.writeHead(302, { location: "/other" }).end(),
    ],
    ["another page", "<!doctype html>"],
    ["JSON of another kind", { hello: "world" }],
    [
      "a body that never ends",
      (_: unknown, response: { write: Function; on: Function }) => {
        const timer = setInterval(() => response.write(" "), 20);
        response.on("close", () => clearInterval(timer));
      },
    ],
  ])("takes %s for no catalogue of a living worker", async (_, answer) => {
    const asked: string[] = [];
    const { port } = await serve(routes({ "/catalog": answer, "/other": catalog("wrong") }, asked));
    const { poller, worker } = startWith(HASTY, at(port));
    await poller.pollNow("a");
    expect(worker("a")).toMatchObject({ health: "healthy", catalog: "unreachable", report: null });
    expect(asked).not.toContain("/other");
  });

  it("takes 20 MB for no catalogue, however well formed", async () => {
    const big = JSON.stringify({ ...catalog("m"), padding: "x".repeat(20 * 1024 * 1024) });
    const { port } = await serve(routes({ "/catalog": big }));
    const { poller, worker } = start(at(port));
    await poller.firstRound;
    expect(worker("a")).toMatchObject({
      health: "healthy",
      catalog: "unreachable",
      problem: expect.stringContaining("8 MB"),
    });
  });

  it("takes a worker whose catalogue alone hangs for alive", async () => {
    const { port } = await serve(routes({ "/catalog": () => {}, "/health": { status: "ok" } }));
    const { poller, worker } = startWith(HASTY, at(port));
    await poller.pollNow("a");
    expect(worker("a")).toMatchObject({ health: "healthy", catalog: "unreachable" });
  });

  it("takes a worker that accepts and never answers for dead, without delaying the others", async () => {
    const black = await listen(createTcpServer(() => {}));
    const good = await serve(routes({ "/catalog": catalog("m") }));
    const { poller, worker } = startWith(HASTY, at(black.port, "auto"), at(good.port, "agent", "b"));
    await until(() => expect(worker("b").health).toBe("healthy"));
    expect(worker("a").health).toBe("unknown");
    await poller.firstRound;
    await until(() => expect(worker("a")).toMatchObject({ health: "unhealthy", refused: false }));
    expect(worker("b").health).toBe("healthy");
  });

  it("has a refused worker back within one poll", async () => {
    const first = await serve(routes({ "/catalog": catalog("m") }));
    const { poller, worker } = start(at(first.port));
    await poller.firstRound;
    await first.end();
    await until(() => expect(worker("a")).toMatchObject({ health: "unhealthy", refused: true }));
    await serve(routes({ "/catalog": catalog("m") }), first.port);
    await poller.pollNow("a");
    await until(() => expect(worker("a")).toMatchObject({ health: "healthy", refused: false, catalog: "fresh" }));
  });

  it("finds another engine at the same address after a restart", async () => {
    const first = await serve(routes({ "/v1/models": { data: [{ id: "m", owned_by: "vllm" }] } }));
    const { poller, worker } = start(at(first.port, "auto"));
    await poller.firstRound;
    expect(worker("a").engine).toBe("vllm");
    await first.end();
    await until(() => expect(worker("a").refused).toBe(true));
    await serve(routes({ "/catalog": catalog("m") }), first.port);
    await until(() => expect(worker("a")).toMatchObject({ engine: "agent", catalog: "fresh" }));
  });

  it("sends the worker's key as a bearer, and calls a worker that does not accept it misconfigured", async () => {
    const { port } = await serve((request, response) => {
      if (request.headers.authorization === "Bearer right") response.end(JSON.stringify(catalog("m")));
      else response.writeHead(401).end("{}");
    });
    const { poller, worker } = start({ ...at(port), apiKey: "wrong" });
    await poller.firstRound;
    expect(worker("a").health).toBe("misconfigured");
    poller.configure([{ ...at(port), apiKey: "right" }], { intervalMs: INTERVAL, timeoutMs: TIMEOUT });
    await until(() => expect(worker("a")).toMatchObject({ health: "healthy", catalog: "fresh" }));
  });

  it("takes a llama-server that loads for alive, and has its model once it is there", async () => {
    const loading = recordedAnswer("loading-models");
    const list = recordedAnswer("single-models");
    let ready = false;
    const { port } = await serve((request, response) => {
      response.setHeader("server", "llama.cpp");
      if (!ready) response.writeHead(loading.status).end(loading.body);
      else if (request.url === "/v1/models") response.end(list.body);
      else response.writeHead(404).end("{}");
    });
    const { poller, worker } = start(at(port, "auto"));
    await poller.firstRound;
    expect(worker("a")).toMatchObject({
      engine: "llama-server",
      health: "healthy",
      problem: "it is loading its model",
    });
    ready = true;
    await until(() => expect(worker("a").byKey.get("stories260k")?.state).toBe("warm"));
  });

  it("keeps an Ollama whose /api/ps fails, without knowing what is loaded", async () => {
    const { port } = await serve(routes({ "/api/tags": { models: [{ name: "m:1b" }] }, "/api/ps": 500 }));
    const { poller, worker } = start(at(port, "ollama"));
    await poller.firstRound;
    expect(worker("a")).toMatchObject({ health: "healthy", catalog: "fresh" });
    expect(worker("a").byKey.get("m:1b")?.state).toBe("unknown");
  });

  it("does not let a stray web server be asked for everything at each poll", async () => {
    const asked: string[] = [];
    const { port } = await serve(routes({}, asked));
    const { poller, worker } = start(at(port, "auto"));
    await poller.firstRound;
    expect(worker("a")).toMatchObject({ engine: "openai", health: "healthy", catalog: "unreachable" });
    const before = asked.length;
    await poller.pollNow("a");
    expect(asked.slice(before).filter((path) => path !== "/v1/models")).toEqual([]);
  });

  it("asks below a path prefix", async () => {
    const { port } = await serve(routes({ "/gpu/catalog": catalog("m") }));
    const { poller, worker } = start({ ...at(port), url: `http://127.0.0.1:${port}/gpu` });
    await poller.firstRound;
    expect(worker("a").catalog).toBe("fresh");
  });

  it("asks an older LM Studio at its older path", async () => {
    const { port } = await serve(routes({ "/api/v0/models": { data: [{ id: "m", state: "loaded" }] } }));
    const { poller, store } = start(at(port, "lmstudio"));
    await poller.firstRound;
    expect(store.current.union.get("m")?.warm).toEqual(["a"]);
  });

  it("drops workers that left the configuration and polls new ones at once", async () => {
    const asked: string[] = [];
    const gone = await serve(routes({ "/catalog": catalog("old") }, asked));
    const added = await serve(routes({ "/catalog": catalog("new") }));
    const { poller, store } = start(at(gone.port));
    await poller.firstRound;
    poller.configure([at(added.port, "agent", "b")], { intervalMs: INTERVAL, timeoutMs: TIMEOUT });
    const before = asked.length;
    await until(() => expect([...store.current.union.keys()]).toEqual(["new"]));
    await poller.pollNow("b");
    await poller.pollNow("b");
    expect(asked.length).toBe(before);
  });

  it("takes a stream under way for a sign of life", async () => {
    const black = await listen(createTcpServer(() => {}));
    const clock = createSystemClock();
    const store = new CatalogStore(clock, { unhealthyAfter: 1, healthyAfter: 1 });
    const apply = store.apply.bind(store);
    const poller = new CatalogPoller({ clock, random: seededRandom(7), apply, flowing: (worker) => worker === "a" });
    cleanups.push(() => poller.stop());
    poller.configure([at(black.port), at(black.port, "agent", "b")], { intervalMs: INTERVAL, timeoutMs: 50 });
    await Promise.all([poller.pollNow("a"), poller.pollNow("b")]);
    expect(find(store, "a")).toMatchObject({ health: "healthy", catalog: "unreachable" });
    expect(find(store, "b").health).toBe("unhealthy");
  });
});
