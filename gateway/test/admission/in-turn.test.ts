import { describe, expect, it } from "vitest";
import { fakeWorker, type Answer, hangs, resets } from "../support/fake-worker.ts";
import { agents, chat, configOf, errorOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const DEADLINE = { scheduling: "deadline" };
/** A stream whose first byte comes after so many milliseconds, and whose last comes with it. */
const streams =
  (ms: number): Answer =>
  ({ response }) => {
    setTimeout(() => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end('data: {"choices":[]}\n\ndata: [DONE]\n\n');
    }, ms);
  };

const ONE_SLOT = { slots: { total: 1, busy: 0 } };

async function oneSlot(answer: Answer, state: "warm" | "cold" = "warm") {
  const worker = await fakeWorker({ m: state }, answer);
  worker.figures = { m: ONE_SLOT };
  return worker;
}

const within = (ms: number, more: Record<string, string> = {}) => ({
  headers: { "x-farmgate-deadline-ms": String(ms), ...more },
});
const said = (text: string) => ({ stream: true, messages: [{ role: "user", content: text }] });
const waiting = (url: string, count: number) => async () =>
  (await (await fetch(`${url}/metrics`)).text()).includes(`farmgate_queue_depth ${count}\n`);

describe("with scheduling by deadline", () => {
  it("who waits for a slot goes by deadline, and who has none goes last", async () => {
    const worker = await oneSlot(hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }), ...DEADLINE });
    const answers = [chat(gateway, said("first"))];
    await until("it has the slot", () => worker.asked.length === 1);
    for (const [at, [text, ms]] of [["whenever"], ["later", 40_000], ["soon", 20_000]].entries() as ArrayIterator<
      [number, [string, number?]]
    >) {
      answers.push(chat(gateway, said(text), ms === undefined ? {} : within(ms)));
      await until(`${text} waits`, waiting(gateway.url, at + 1));
    }
    for (const [at, text] of ["first", "soon", "later", "whenever"].entries()) {
      await until(`${text} is asked`, () => worker.asked.length > at);
      expect(worker.asked[at]?.body).toContain(text);
      await streams(0)(worker.request(at));
    }
    for (const answer of answers) expect((await answer).status).toBe(200);
    expect(Number(worker.asked[1]?.headers["x-farmgate-deadline-ms"])).toBeLessThanOrEqual(20_000);
    expect(worker.asked[3]?.headers).not.toHaveProperty("x-farmgate-deadline-ms");
  });

  it("what no worker can make is refused at once, with figures, and waits on with a longer deadline where it may", async () => {
    const worker = await oneSlot(streams(150));
    const gateway = await runGateway({ workers: agents({ a: worker }), ...DEADLINE });
    for (let i = 0; i < 4; i += 1) await (await chat(gateway, said("learn"))).text();
    const refused = await chat(gateway, said("no"), within(40));
    expect(refused.headers.get("x-should-retry")).toBe("false");
    const { code, status, message } = await errorOf(refused);
    expect({ code, status }).toEqual({ code: "deadline", status: 503 });
    expect(message).toMatch(/predicted after \d+ ms, 40 ms were asked for, so that it would be \d+ ms late/);
    expect(worker.asked).toHaveLength(4);
    const relaxed = await chat(gateway, said("yes"), within(100, { "x-farmgate-deadline-relax": "1" }));
    expect(relaxed.status).toBe(200);
    await relaxed.text();
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain('farmgate_deadlines_missed_total{end="refused"} 1');
    expect(metrics).toContain('farmgate_deadlines_missed_total{end="relaxed"} 1');
    expect(
      await errorOf(await chat(gateway, said("?"), within(60, { "x-farmgate-deadline-relax": "x" }))),
    ).toMatchObject({
      status: 400,
    });
  });

  it("a deadline of the key or the farm holds for who asks for none", async () => {
    const worker = await oneSlot(hangs);
    const keys = [
      { name: "alice", key: "alices-key", deadlines: { firstByte: "50s" } },
      { name: "bob", key: "bobs-key" },
    ];
    const gateway = await runGateway({
      workers: agents({ a: worker }),
      ...DEADLINE,
      keys,
      deadlines: { firstByte: "9s" },
    });
    const left: number[] = [];
    for (const key of ["alices-key", "bobs-key"]) {
      const answer = chat(gateway, said("hello"), { headers: { authorization: `Bearer ${key}` } });
      await until("it is asked", () => worker.asked.length === left.length + 1);
      left.push(Number(worker.request(left.length).headers["x-farmgate-deadline-ms"]));
      await streams(0)(worker.request(left.length - 1));
      await (await answer).text();
    }
    expect(left[0]).toBeGreaterThan(9_000);
    expect(left[1]).toBeLessThanOrEqual(9_000);
  });

  it("a cold model is asked for at once, so that somebody loads it, and the queue is told by a dry run", async () => {
    const worker = await oneSlot(hangs, "cold");
    const gateway = await runGateway({ workers: agents({ a: worker }), ...DEADLINE });
    const cold = await (await chat(gateway, said("dry"), { headers: { "x-farmgate-dry-run": "1" } })).json();
    expect(cold).toMatchObject({ queue: { waiting: 0, slots: [] }, decision: { worker: "a" } });
    const first = chat(gateway, said("first"), within(30_000));
    await until("it is asked", () => worker.asked.length === 1);
    const second = chat(gateway, said("second"), within(30_000));
    await until("one waits", waiting(gateway.url, 1));
    const view = (await (await chat(gateway, said("dry"), { headers: { "x-farmgate-dry-run": "1" } })).json()) as {
      queue: { waiting: number; slots: { worker: string }[]; reason: string };
    };
    expect(view.queue).toMatchObject({ waiting: 1, slots: [{ worker: "a" }] });
    expect(view.queue.reason).toMatch(/^1 waiting by their deadlines; 1 slots, the next free at a in about /);
    await streams(0)(worker.request(0));
    await until("the second is asked", () => worker.asked.length > 1);
    await streams(0)(worker.request(1));
    for (const answer of [first, second]) expect((await answer).status).toBe(200);
  });

  it("a reload that turns it off sends all who wait, and a caller who leaves is gone from the queue", async () => {
    const worker = await oneSlot(hangs);
    const file = { workers: agents({ a: worker }) };
    const gateway = await runGateway({ ...file, ...DEADLINE });
    const first = chat(gateway, said("first"));
    await until("it has the slot", () => worker.asked.length === 1);
    const leaving = new AbortController();
    const gone = chat(gateway, said("gone"), { ...within(60_000), signal: leaving.signal }).catch(() => null);
    await until("one waits", waiting(gateway.url, 1));
    leaving.abort();
    await gone;
    await until("none waits", waiting(gateway.url, 0));
    const second = chat(gateway, said("second"), within(60_000));
    await until("one waits", waiting(gateway.url, 1));
    expect(gateway.reload(configOf({ ...file, scheduling: "greedy" })).applied).toBe(true);
    await until("both are there", () => worker.asked.length === 2);
    for (const at of [0, 1]) await streams(0)(worker.request(at));
    for (const answer of [first, second]) expect((await answer).status).toBe(200);
  });

  it("a worker that fails is followed by another, without a second wait", async () => {
    const [a, b] = [await oneSlot(resets), await oneSlot(streams(0))];
    const gateway = await runGateway({ workers: agents({ a, b }), ...DEADLINE });
    for (let i = 0; i < 3; i += 1) {
      const answer = await chat(gateway, said("hello"), within(30_000));
      expect([answer.status, answer.headers.get("x-farmgate-worker")]).toEqual([200, "b"]);
      await answer.text();
    }
    expect(a.asked.length).toBeGreaterThan(0);
  });

  it("waiting is still weighed against loading elsewhere where the owner wants that, and the decision is told", async () => {
    const [warm, cold] = [await oneSlot(hangs), await oneSlot(hangs, "cold")];
    warm.figures = { m: { ...ONE_SLOT, service_ms: 40_000 } };
    cold.figures = { m: { ...ONE_SLOT, service_ms: 5_000, load_ms: 60_000 } };
    const routing = { waitOrSwap: true };
    const gateway = await runGateway({ workers: agents({ warm, cold }), ...DEADLINE, routing });
    const first = chat(gateway, said("first"));
    await until("it has the slot", () => warm.asked.length === 1);
    const second = chat(gateway, said("second"));
    await until("one waits", waiting(gateway.url, 1));
    const dry = await (await chat(gateway, said("dry"), { headers: { "x-farmgate-dry-run": "1" } })).json();
    expect(dry).toMatchObject({ weighed: { decision: "swap", waitMs: 80_000 }, decision: { worker: "cold" } });
    const third = chat(gateway, said("third"));
    await until("the cold one is asked", () => cold.asked.length === 1);
    expect(cold.asked[0]?.body).toContain("third");
    await streams(0)(warm.request(0));
    await until("the second is asked", () => warm.asked.length === 2);
    await streams(0)(warm.request(1));
    await streams(0)(cold.request(0));
    const told = (answer: Response) => [answer.status, answer.headers.get("x-farmgate-decision")];
    expect(told(await first)).toEqual([200, null]);
    expect(told(await second)).toEqual([200, expect.stringMatching(/^wait; wait=40000/)]);
    expect(told(await third)).toEqual([200, expect.stringMatching(/^swap; wait=80000/)]);
  });
});
