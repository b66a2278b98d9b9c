import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { completes, type FakeWorker, fakeWorker, hangs } from "../support/fake-worker.ts";
import { agents, chat, errorOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { testRoom, type TestRoom } from "../together/room-hub.ts";

interface Together {
  room: TestRoom;
  gateways: RunningGateway[];
  at(i: number): RunningGateway;
}

async function startTogether(count: number, file: Record<string, unknown>): Promise<Together> {
  const room = testRoom();
  const gateways = await Promise.all(
    Array.from({ length: count }, (_, i) => runGateway(file, { hub: room.hub(`g${i}`) })),
  );
  const at = (i: number) => {
    const gateway = gateways[i % count];
    if (gateway === undefined) throw new Error("no gateway");
    return gateway;
  };
  await until("all know the workers and each other", async () => {
    const known = await Promise.all(gateways.map(health));
    return known.every(({ body }) => body.status === "ok" && body.together?.members === count);
  });
  return { room, gateways, at };
}

interface Health {
  status: string;
  inflight: number;
  waiting: number;
  together?: { members: number; trouble: string | null };
}

async function health({ url }: RunningGateway): Promise<{ status: number; body: Health }> {
  const answer = await fetch(`${url}/health`);
  return { status: answer.status, body: (await answer.json()) as Health };
}

const metricsOf = async ({ url }: RunningGateway) => (await fetch(`${url}/metrics`)).text();

const open = ({ asked }: FakeWorker) => asked.filter(({ response, closed }) => !response.writableEnded && !closed);

/** Answers whatever is held, until all of them have been; says how many were ever held at once. */
async function answerAll(workers: readonly FakeWorker[], answers: readonly Promise<unknown>[]): Promise<number[]> {
  let left = answers.length;
  for (const answer of answers) void answer.finally(() => (left -= 1)).catch(() => {});
  const most = workers.map(() => 0);
  await until(
    "all are answered",
    async () => {
      for (const [i, worker] of workers.entries()) {
        const held = open(worker);
        most[i] = Math.max(most[i] ?? 0, held.length);
        for (const asked of held) await completes()(asked);
      }
      return left === 0;
    },
    30_000,
  );
  return most;
}

describe("gateways that act as one", () => {
  it("send no more than its cap to a worker, whoever asks, and serve everybody", async () => {
    const [a, b] = [await fakeWorker({ m: "warm" }, hangs), await fakeWorker({ m: "warm" }, hangs)];
    const workers = [...agents({ a }, { maxConcurrent: 3 }), ...agents({ b }, { maxConcurrent: 2 })];
    const { gateways, at } = await startTogether(3, { workers });
    const answers = Array.from({ length: 24 }, (_, i) => chat(at(i)));
    await until("the workers are full", () => open(a).length === 3 && open(b).length === 2);
    await until("the others wait", async () => {
      const all = await Promise.all(gateways.map(health));
      return all.reduce((sum, { body }) => sum + body.waiting, 0) === 19;
    });
    // Each shows its own; all together show what is there.
    const own = await Promise.all(gateways.map(async (gateway) => (await health(gateway)).body.inflight));
    expect(own.reduce((sum, count) => sum + count)).toBe(5);
    const shown = (await (await fetch(`${at(0).url}/farm/workers`)).json()) as { workers: { inflight: number }[] };
    expect(shown.workers.map(({ inflight }) => inflight)).toEqual([3, 2]);
    expect(await answerAll([a, b], answers)).toEqual([3, 2]);
    expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]));
    const metrics = await metricsOf(at(0));
    expect(metrics).toMatch(/farmgate_gateways 3\n/);
    expect(metrics).toMatch(/farmgate_together_up 1\n/);
    expect(metrics).toMatch(/farmgate_claims_total\{result="taken"\} \d+\n/);
    await until("nothing is counted any more", async () => {
      const { workers: now } = (await (await fetch(`${at(0).url}/farm/workers`)).json()) as typeof shown;
      return now.every(({ inflight }) => inflight === 0);
    });
  });

  it("send each request to the worker with the least of all their requests", async () => {
    const [a, b] = [await fakeWorker({ m: "warm" }, hangs), await fakeWorker({ m: "warm" }, hangs)];
    const { at } = await startTogether(2, { workers: agents({ a, b }) });
    const answers = Array.from({ length: 12 }, (_, i) => chat(at(i)));
    await until("all are there", () => open(a).length + open(b).length === 12);
    expect(open(a)).toHaveLength(6);
    await answerAll([a, b], answers);
  });

  it("send a burst for a model that nobody has loaded to one worker, through each door", async () => {
    const [a, b] = [await fakeWorker({ m: "cold" }, hangs), await fakeWorker({ m: "cold" }, hangs)];
    const { at } = await startTogether(2, { workers: agents({ a, b }) });
    const answers = Array.from({ length: 6 }, () => chat(at(0)));
    await until("all are there", () => open(a).length + open(b).length === 6);
    expect([open(a).length, open(b).length].sort()).toEqual([0, 6]);
    await answerAll([a, b], answers);
  });

  it("hold a key to its limits together, with what one gateway tells alone", async () => {
    const a = await fakeWorker({ m: "warm" }, hangs);
    const keys = [{ name: "bob", key: "secret", maxConcurrent: 2, requestsPerMinute: 3, admin: true }];
    const room = testRoom();
    const file = { workers: agents({ a }), keys };
    const [first, second] = [
      await runGateway(file, { hub: room.hub("g0") }),
      await runGateway(file, { hub: room.hub("g1") }),
    ];
    const headers = { authorization: "Bearer secret" };
    const bob = (gateway: RunningGateway, more = {}) => chat(gateway, {}, { headers: { ...headers, ...more } });
    await until("the worker is known", async () => (await fetch(`${second.url}/readyz`)).status === 200);
    // A dry run claims nothing.
    await (await bob(first, { "x-farmgate-dry-run": "1" })).text();
    const held = [bob(first), bob(second)];
    await until("both are there", () => open(a).length === 2);
    const third = await bob(first);
    expect(third.headers.get("retry-after")).not.toBeNull();
    expect(third.headers.get("x-ratelimit-limit-requests")).toBe("3");
    expect(await errorOf(third)).toMatchObject({ status: 429, code: "rate_limited" });
    await answerAll([a], held);
    const remaining = (await Promise.all(held)).map((answer) => answer.headers.get("x-ratelimit-remaining-requests"));
    expect(remaining.sort()).toEqual(["1", "2"]);
    a.answer = completes();
    expect((await bob(second)).status).toBe(200);
    for (const gateway of [first, second]) {
      expect((await errorOf(await bob(gateway))).message).toContain("3 requests a minute");
    }
  });

  it("count each of the embedding calls that are joined among those of its key", async () => {
    const a = await fakeWorker({ m: "warm" }, hangs);
    const keys = [{ name: "bob", key: "secret", maxConcurrent: 3, admin: true }];
    const embeddings = { batchWindow: "300ms" };
    const room = testRoom();
    const file = { workers: agents({ a }), keys, embeddings };
    const [first, second] = [
      await runGateway(file, { hub: room.hub("g0") }),
      await runGateway(file, { hub: room.hub("g1") }),
    ];
    await until("the worker is known", async () => (await fetch(`${first.url}/readyz`)).status === 200);
    const headers = { authorization: "Bearer secret", "content-type": "application/json" };
    const embed = (gateway: RunningGateway) =>
      fetch(`${gateway.url}/v1/embeddings`, { method: "POST", body: '{"model":"m","input":"so"}', headers });
    const joined = [embed(first), embed(first), embed(first)];
    await until("they are there as one", () => open(a).length === 1);
    expect((await errorOf(await embed(second))).code).toBe("rate_limited");
    const vectors = [0, 1, 2].map((index) => `{"index":${index},"embedding":[1]}`);
    const { response } = a.request(0);
    response.writeHead(200, { "content-type": "application/json" }).end(`{"data":[${vectors.join()}]}`);
    for (const answer of joined) expect((await answer).status).toBe(200);
    a.answer = completes();
    await until("their places are free", async () => (await embed(second)).status === 200);
  });

  it("send no more than its cap to a worker in the order of deadlines either", async () => {
    const [a, b] = [await fakeWorker({ m: "warm" }, hangs), await fakeWorker({ m: "warm" }, hangs)];
    const workers = agents({ a, b }, { maxConcurrent: 2 });
    const { at } = await startTogether(2, { workers, scheduling: "deadline" });
    const answers = Array.from({ length: 16 }, (_, i) => chat(at(i)));
    await until("the workers are full", () => open(a).length === 2 && open(b).length === 2);
    expect(await answerAll([a, b], answers)).toEqual([2, 2]);
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(16).fill(200));
  });

  it("go on alone with their shares of a cap when they cannot hear each other, say so, and meet again", async () => {
    const a = await fakeWorker({ m: "warm" }, hangs);
    const { room, gateways, at } = await startTogether(2, { workers: agents({ a }, { maxConcurrent: 4 }) });
    room.away(true);
    await until("both say so", async () => {
      const all = await Promise.all(gateways.map(health));
      return all.every(({ status, body }) => status === 200 && body.status === "degraded" && body.together?.trouble);
    });
    expect(await metricsOf(at(0))).toMatch(/farmgate_together_up 0\n/);
    const answers = Array.from({ length: 8 }, (_, i) => chat(at(i)));
    await until("each has its share there", () => open(a).length === 4);
    await until("the others wait", async () => (await health(at(0))).body.waiting === 2);
    room.away(false);
    await until("they hear each other", async () => (await health(at(1))).body.status === "ok");
    expect(await answerAll([a], answers)).toEqual([4]);
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(8).fill(200));
  });

  it("do not tell of others where there are none", async () => {
    const gateway = await runGateway({ workers: [] });
    expect((await health(gateway)).body.together).toBeUndefined();
    expect(await metricsOf(gateway)).not.toMatch(/farmgate_gateways|farmgate_together_up|farmgate_claim/);
  });
});
