import { describe, expect, it } from "vitest";
import { json, rawServer } from "../../test/harness/hostile-server.ts";
import { chat, errorOf, runGateway } from "./support/gateway.ts";
import { until } from "./support/until.ts";

type Listed = Parameters<typeof rawServer>[0];
interface Shown {
  state: string;
  problem: string | null;
  models: { id: string }[];
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** A gateway over a worker with this list, beside a good one, `good`, that has `m`. */
async function farm(list: Listed, engine: string, timeout = "5s") {
  const [hostile, good] = [
    await rawServer(list),
    await rawServer(() => json({ data: [{ id: "m", owned_by: "vllm" }] })),
  ];
  good.answer = () => json({ id: "good", choices: [] });
  hostile.answer = () => json({ id: "hostile", choices: [] });
  const gateway = await runGateway({
    health: { interval: "100ms", timeout, unhealthyAfter: 100 },
    workers: [
      { name: "good", url: good.url, engine: "vllm" },
      { name: "bad", url: hostile.url, engine },
    ],
  });
  const get = async (path: string) => (await fetch(gateway.url + path)).text();
  const bad = async () => (JSON.parse(await get("/farm/workers")) as { workers: [unknown, Shown] }).workers[1];
  return { gateway, get, bad };
}

/** What the gateway has to show of all that stays well-formed. */
async function stillInOrder({ gateway, get }: Awaited<ReturnType<typeof farm>>): Promise<void> {
  for (const path of ["/farm/workers", "/farm/models", "/v1/models", "/api/tags", "/api/ps"]) {
    const text = await get(path);
    expect(text).not.toMatch(CONTROL);
    expect(JSON.parse(text)).toBeDefined();
  }
  const metrics = await get("/metrics");
  for (const line of metrics.split("\n")) expect(line).toMatch(/^(#.*|[a-z_]+(\{.*\})? \S+|)$/);
  expect(metrics).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  const answer = await chat(gateway);
  expect([answer.status, answer.headers.get("x-farmgate-worker")]).toEqual([200, "good"]);
}

const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const listOf = (entries: string) => `{"object":"list","data":[${entries}]}`;

const LARGE = json(listOf(`{"id":"m","x":"${"a".repeat(20 * 1_024 ** 2)}"}`));

describe("a catalogue that was made to do harm", () => {
  it.each<[string, Listed, RegExp]>([
    ["of 20 MB", () => LARGE, /the answer is over 8 MB/],
    [
      "that trickles",
      (_path, socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n");
        const timer = setInterval(() => socket.write("{"), 20);
        socket.on("close", () => clearInterval(timer));
        return null;
      },
      /not complete after 500 ms/,
    ],
    ["that is no JSON", () => json("\u001b[31m{nonsense\n"), /something else than vllm's list/],
    ["that is nested deeply where the list is to be", () => json(deep(10_000)), /something else than vllm's list/],
    [
      "that is cut short",
      () => Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}"),
      /the answer broke off/,
    ],
    [
      "behind a redirect",
      () => Buffer.from("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"),
      /answered 302/,
    ],
    [
      "behind headers that do not end",
      () => Buffer.from(`HTTP/1.1 200 OK\r\n${"x: aaaaaaaaaaaa\r\n".repeat(10_000)}\r\n`),
      /HEADERS_OVERFLOW|HPE_/,
    ],
    ["that is no HTTP", () => Buffer.from("\u001b[2J\u0007 hello\r\n\r\n"), /HPE_|HTTPParser/],
  ])("%s is told as a problem of its worker", async (what, list, problem) => {
    const over = await farm(list, "vllm", what === "that trickles" ? "500ms" : "5s");
    await until("its problem is told", async () => (await over.bad()).problem !== null);
    const told = (await over.bad()).problem ?? "";
    expect(told).toMatch(problem);
    expect(told).toMatch(/^[ -~]{1,300}$/);
    await stillInOrder(over);
  });

  it.each(["vllm", "agent", "ollama"])("lists names that harm nobody, as %s", async (engine) => {
    const names = [
      "fine",
      "__proto__",
      "constructor",
      "toString",
      "a\u001b[31mred",
      "two\nlines",
      "nul\u0000",
      "c1\u009b",
      "x".repeat(10_000),
      "",
      " ",
      '"} 1\nevil{a="',
      "\ud800",
    ];
    const entries = names.map((name) => ({
      id: name,
      name,
      model: name,
      owned_by: "vllm",
      aliases: [name, 5, null],
      state: "warm",
      kind: 7,
      slots: { total: -5, busy: 1e308 },
      queued: -1,
      max_model_len: 1e308,
      context_length: "x",
      size: -1,
      details: [],
      digest: {},
    }));
    const over = await farm(
      () => json({ protocol: 1, object: "list", data: entries, models: entries, queue: "x", memory: [] }),
      engine,
    );
    await until("it is listed", async () => (await over.bad()).models.length > 0);
    const ids = (await over.bad()).models.map(({ id }) => id.replace(/:latest$/, ""));
    expect(ids).toEqual(expect.arrayContaining(["fine", "__proto__", "constructor", "toString"]));
    expect(ids.filter((id) => CONTROL.test(id) || id.length > 300 || id === "")).toEqual([]);
    await stillInOrder(over);
    for (const model of ["__proto__", "constructor", "toString"]) {
      const answer = await chat(over.gateway, JSON.stringify({ model, messages: [] }));
      expect([model, answer.status, answer.headers.get("x-farmgate-worker")]).toEqual([model, 200, "bad"]);
      expect((await fetch(`${over.gateway.url}/v1/models/${model}`)).status).toBe(200);
    }
    for (const model of ["valueOf", "hasOwnProperty"]) {
      expect(await errorOf(await chat(over.gateway, { model }))).toMatchObject({
        status: 404,
        code: "model_not_found",
      });
      expect((await fetch(`${over.gateway.url}/v1/models/${model}`)).status).toBe(404);
    }
  });

  it("is read with what is nested deeply beside the list, with keys twice, and with wrong types all over", async () => {
    const odd = `{"id":"odd","owned_by":"vllm","meta":${deep(10_000)},"id":"twice","__proto__":{"state":"warm"},"max_model_len":-1}`;
    const over = await farm(() => json(listOf(`null,5,"x",[],{},{"id":null},{"id":[]},${odd}`)), "vllm");
    await until("it is listed", async () => (await over.bad()).models.length > 0);
    expect((await over.bad()).models.map(({ id }) => id)).toEqual(["twice"]);
    await stillInOrder(over);
  });

  it("of 100,000 models is read up to 10,000, and the farm goes on", async () => {
    const entries = Array.from({ length: 100_000 }, (_, i) => `{"id":"m${i}"}`).join(",");
    const over = await farm(() => json(listOf(entries)), "vllm");
    await until("it is listed", async () => (await over.bad()).models.length > 0);
    expect((await over.bad()).models).toHaveLength(10_000);
    const answer = await chat(over.gateway);
    expect([answer.status, answer.headers.get("x-farmgate-worker")]).toEqual([200, "good"]);
  });
});
