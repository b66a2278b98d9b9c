import { describe, expect, it } from "vitest";
import { type Answer, type Asked, fakeWorker, hangs, refuses } from "../support/fake-worker.ts";
import { agents, configOf, errorOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

/** Long enough for all that a test sends at once, however busy the machine is. */
const embeddings = { batchWindow: "300ms" };

const inputsOf = ({ body }: Asked) => [(JSON.parse(body) as { input: string | string[] }).input].flat();

/** An odd number for each text, told in the worst order. */
const embeds: Answer = (asked) => {
  const data = inputsOf(asked).map((text, index) => `{"index":${index},"embedding":[${text.length}.0,1e-7]}`);
  asked.response.writeHead(200, {
    "content-type": "application/json",
    etag: '"whole"',
    "access-control-allow-origin": "*",
  });
  asked.response.end(`{"data":[${data.reverse().join()}],"usage":{"prompt_tokens":${data.length}}}`);
};

interface Gateway {
  url: string;
}

function embed(gateway: Gateway, input: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) {
  const body = JSON.stringify({ model: "m", input });
  const init = { method: "POST", body, headers: { "content-type": "application/json", ...headers } };
  return fetch(`${gateway.url}/v1/embeddings`, signal === undefined ? init : { ...init, signal });
}

const textsOf = (answers: readonly Response[]) => Promise.all(answers.map((answer) => answer.text()));

describe("embedding calls that are joined", () => {
  it("each get a whole answer of their own, with their own headers", async () => {
    const a = await fakeWorker({ m: "warm" }, embeds);
    const gateway = await runGateway({ workers: agents({ a }), embeddings });
    const origin = "http://localhost:3000";
    const answers = await Promise.all([
      embed(gateway, "abcd", { "x-request-id": "first", origin }),
      embed(gateway, ["a", "ab"], { "x-request-id": "second" }),
    ]);
    expect(a.asked).toHaveLength(1);
    expect(a.request(0).headers["x-request-id"]).not.toMatch(/first|second/);
    const [first, second] = answers;
    expect(first.headers.get("x-request-id")).toBe("first");
    expect(second.headers.get("x-request-id")).toBe("second");
    expect(first.headers.get("access-control-allow-origin")).toBe(origin);
    expect(second.headers.get("access-control-allow-origin")).toBeNull();
    for (const { headers } of answers) {
      expect(headers.get("etag")).toBeNull();
      expect(headers.get("x-farmgate-attempts")).toBe("1");
      expect(headers.get("x-farmgate-worker")).toBe("a");
    }
    const texts = await textsOf(answers);
    expect(Number(first.headers.get("content-length"))).toBe(texts[0]?.length);
    expect(texts).toEqual([
      '{"data":[{"index":0,"embedding":[4.0,1e-7]}],"usage":{"prompt_tokens":2}}',
      '{"data":[{"index":0,"embedding":[1.0,1e-7]},{"index":1,"embedding":[2.0,1e-7]}],"usage":{"prompt_tokens":1}}',
    ]);
  });

  it("are not, when one comes alone: it goes as it came", async () => {
    const a = await fakeWorker({ m: "warm" }, embeds);
    const gateway = await runGateway({ workers: agents({ a }), embeddings: { batchWindow: "1ms" } });
    const body = '{ "input" :"abc","model":"m" }';
    const headers = { "content-type": "application/json; charset=utf-8", "x-own": "1" };
    const answer = await fetch(`${gateway.url}/v1/embeddings?x=1`, { method: "POST", body, headers });
    expect(await answer.text()).toBe('{"data":[{"index":0,"embedding":[3.0,1e-7]}],"usage":{"prompt_tokens":1}}');
    expect(answer.headers.get("etag")).toBe('"whole"');
    expect(a.request(0)).toMatchObject({ body, path: "/v1/embeddings?x=1", headers });
  });

  it("are of one key, and none has a deadline", async () => {
    const a = await fakeWorker({ m: "warm" }, embeds);
    const keys = [
      { name: "alice", key: "a" },
      { name: "bob", key: "b" },
    ];
    const gateway = await runGateway({ workers: agents({ a }), embeddings, keys });
    const as = (key: string, more = {}) => embed(gateway, "x", { authorization: `Bearer ${key}`, ...more });
    const answers = await Promise.all([
      as("a"),
      as("b"),
      as("a"),
      as("b"),
      as("b", { "x-farmgate-deadline-ms": "9000" }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const asked = a.asked.map((each) => [each.headers["x-farmgate-caller"], inputsOf(each).length]);
    expect(asked.map(String).toSorted()).toEqual(["alice,2", "bob,1", "bob,2"]);
  });

  it("are served one by one by a worker that takes fewer at once, which is then known", async () => {
    const a = await fakeWorker({ m: "warm" }, (asked) =>
      inputsOf(asked).length > 2
        ? refuses(413, { message: "batch size 4 > maximum 2", type: "Validation" })(asked)
        : embeds(asked),
    );
    const gateway = await runGateway({ workers: agents({ a }), embeddings });
    const four = () => Promise.all(["a", "ab", "abc", "abcd"].map((text) => embed(gateway, text)));
    for (const answer of await four()) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get("x-farmgate-attempts")).toBe("2");
    }
    expect(a.asked.map((asked) => inputsOf(asked).length)).toEqual([4, 1, 1, 1, 1]);
    const again = await textsOf(await four());
    expect(again[3]).toContain("[4.0,1e-7]");
    expect(a.asked.slice(5).map((asked) => inputsOf(asked).length)).toEqual([2, 2]);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain('farmgate_embedding_batches_parted_total{reason="refused"} 1');
    expect(metrics).toContain("farmgate_embedding_batch_calls_sum 8");
  });

  it("are served one by one where not each input has its vector, and nobody is blamed", async () => {
    const a = await fakeWorker({ m: "warm" }, ({ response }) => {
      response.writeHead(200, { "content-type": "application/json" }).end('{"data":[{"index":0,"embedding":[1]}]}');
    });
    const gateway = await runGateway({ workers: agents({ a }), embeddings });
    for (const answer of await Promise.all([embed(gateway, "a"), embed(gateway, "b")])) expect(answer.status).toBe(200);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain('parted_total{reason="unusable"} 1');
    expect(metrics).not.toContain("farmgate_retries_total{");
  });

  it("each hear of the guilty input what it would have heard alone", async () => {
    const a = await fakeWorker({ m: "warm" }, (asked) =>
      inputsOf(asked).includes("bad") ? refuses(500, { error: "it broke" })(asked) : embeds(asked),
    );
    const gateway = await runGateway({ workers: agents({ a }), embeddings });
    const answers = await Promise.all(["a", "bad", "b"].map((text) => embed(gateway, text)));
    expect(answers.map(({ status }) => status)).toEqual([200, 502, 200]);
  });

  it("all hear at once of what is the farm's trouble", async () => {
    const a = await fakeWorker({ m: "warm" }, refuses(503, { error: "full" }, { "retry-after": "7" }));
    const gateway = await runGateway({ workers: agents({ a }), embeddings });
    const answers = await Promise.all([embed(gateway, "a"), embed(gateway, "b")]);
    for (const answer of answers) {
      expect(answer.headers.get("retry-after")).toBe("7");
      expect(await errorOf(answer)).toMatchObject({ status: 503, code: "queue_full" });
    }
    expect(a.asked).toHaveLength(1);
  });

  it("are asked for a second time, whole, when the answer breaks off in the middle", async () => {
    const broken = await fakeWorker({ m: "warm" }, ({ response }) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"data":[{"index":0,', () => response.destroy());
    });
    const b = await fakeWorker({ m: "warm" }, embeds);
    const workers = agents({ broken, b });
    const gateway = await runGateway({ workers, embeddings, routing: { strategy: "round-robin" } });
    const both = () => Promise.all([embed(gateway, "a"), embed(gateway, "b")]);
    const answers = [...(await both()), ...(await both())];
    for (const answer of answers) expect(answer.headers.get("x-farmgate-worker")).toBe("b");
    expect(broken.asked.length).toBeGreaterThan(0);
    expect(b.asked.map((asked) => inputsOf(asked).length)).toEqual([2, 2]);
  });

  it("are shown with the request that they are part of, and can be cancelled one by one or together", async () => {
    const a = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a }), embeddings });
    const ask = (id: string) => embed(gateway, id, { "x-request-id": id });
    const answers = [ask("one"), ask("two"), ask("three")] as const;
    await until("they are asked", () => a.asked.length === 1);
    const live = async () => {
      const answer = await fetch(`${gateway.url}/farm/requests`);
      const { requests } = (await answer.json()) as {
        requests: { id: string; phase: string; worker: string | null }[];
      };
      return requests;
    };
    const shown = await live();
    const joint = shown.find(({ phase }) => phase === "asking");
    expect(joint).toMatchObject({ worker: "a" });
    expect(shown.filter(({ phase }) => phase === "joined").map(({ id }) => id)).toEqual(["one", "two", "three"]);
    const cancel = (id = "") => fetch(`${gateway.url}/farm/requests/${id}`, { method: "DELETE" });
    await cancel("two");
    expect(await errorOf(await answers[1])).toMatchObject({ status: 499, code: "cancelled" });
    expect((await live()).length).toBe(3);
    await cancel(joint?.id);
    expect(await errorOf(await answers[0])).toMatchObject({ code: "cancelled" });
    expect(await errorOf(await answers[2])).toMatchObject({ code: "cancelled" });
    await until("the worker is let go", () => a.request(0).closed);
    expect(await live()).toEqual([]);
  });

  it("are still served when one of them was cancelled, and not computed when all were", async () => {
    const a = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a }), embeddings });
    const ask = (ids: string[]) => ids.map((id) => embed(gateway, id, { "x-request-id": id }));
    const cancel = (id: string) => fetch(`${gateway.url}/farm/requests/${id}`, { method: "DELETE" });
    const [one, two] = ask(["one", "two"]);
    await until("they are asked", () => a.asked.length === 1);
    await cancel("one");
    expect((await one)?.status).toBe(499);
    await embeds(a.request(0));
    expect(await (await two)?.text()).toContain("[3.0,1e-7]");
    const both = ask(["three", "four"]);
    await until("they are asked", () => a.asked.length === 2);
    await cancel("three");
    await cancel("four");
    for (const answer of await Promise.all(both)) expect(answer.status).toBe(499);
    await until("the worker is let go", () => a.request(1).closed);
  });

  it("can leave before anything was sent", async () => {
    const a = await fakeWorker({ m: "warm" }, embeds);
    const gateway = await runGateway({ workers: agents({ a }), embeddings });
    const leaving = new AbortController();
    const gone = embed(gateway, "gone", {}, leaving.signal).catch(() => null);
    const stays = embed(gateway, "stays");
    const joined = async () =>
      (await (await fetch(`${gateway.url}/farm/requests`)).text()).split('"joined"').length - 1;
    await until("both wait", async () => (await joined()) === 2);
    leaving.abort();
    await gone;
    expect((await stays).status).toBe(200);
    expect(a.asked.map(inputsOf)).toEqual([["stays"]]);
  });

  it("are joined as a changed configuration says, from then on", async () => {
    const a = await fakeWorker({ m: "warm" }, embeds);
    const file = { workers: agents({ a }) };
    const gateway = await runGateway(file);
    const two = () => Promise.all([embed(gateway, "a"), embed(gateway, "b")]);
    await two();
    expect(a.asked).toHaveLength(2);
    gateway.reload(configOf({ ...file, embeddings }));
    await two();
    expect(a.asked).toHaveLength(3);
    gateway.reload(configOf(file));
    await two();
    expect(a.asked).toHaveLength(5);
  });
});
