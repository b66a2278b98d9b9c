import { describe, expect, it } from "vitest";
import { type Answer, type Asked, completes, type FakeWorker, fakeWorker, hangs } from "../support/fake-worker.ts";
import { agents, chat, hurriedClock, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const modelOf = ({ body }: Asked): string => (JSON.parse(body) as { model: string }).model;

const streams: Answer = ({ response }) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end('data: {"choices":[{"delta":{"content":"hello"}}]}\n\ndata: [DONE]\n\n');
};

/** A farm in a hurry: two workers that have m and n loaded, of which the first has streamed m often enough to be known. */
async function farm(workers: Record<string, FakeWorker>) {
  const config = { workers: agents(workers), health: { interval: "2s", timeout: "60s" }, sseComments: "0s" };
  const gateway = await runGateway(config, { clock: hurriedClock(40) });
  const ask = async (model: string) => {
    const answer = await chat(gateway, { model, stream: true });
    await answer.text();
    return [answer.status, answer.headers.get("x-farmgate-worker"), answer.headers.get("x-farmgate-attempts")];
  };
  for (let i = 0; i < 10; i += 1) await ask("m@bad");
  const worker = async () => {
    const { workers: all } = (await (await fetch(`${gateway.url}/farm/workers`)).json()) as {
      workers: { state: string; problem: string | null; models: { id: string; aside: object | null }[] }[];
    };
    const [first] = all;
    if (first === undefined) throw new Error("no worker");
    return first;
  };
  const isAside = async () => (await worker()).state === "degraded";
  const explain = async () =>
    await (await fetch(`${gateway.url}/farm/explain`, { method: "POST", body: '{"model":"m"}' })).text();
  const metrics = async () => await (await fetch(`${gateway.url}/metrics`)).text();
  return { gateway, ask, worker, isAside, explain, metrics };
}

const both = () => fakeWorker({ m: "warm", n: "warm" }, streams);

describe("a model that falls silent on a worker whose catalogue stays good", () => {
  it("is put aside there, everything says so, and nothing else changes; the late answer brings it back", async () => {
    const bad = await both();
    const good = await both();
    const { ask, worker, isAside, explain, metrics } = await farm({ bad, good });
    expect(await metrics()).toContain('farmgate_breaker_open{worker="bad",model="m"} 0');
    bad.answer = (asked) => (modelOf(asked) === "m" ? hangs : streams)(asked);
    const before = bad.asked.length;
    const hung = ask("m@bad");
    await until("it is aside", isAside);
    const words = /no first byte there for \d+ s, where \d+ s are enough/;
    const { problem, models } = await worker();
    expect(problem).toMatch(words);
    expect(models).toMatchObject([
      { id: "m", aside: { reason: expect.stringMatching(words) as unknown } },
      { id: "n", aside: null },
    ]);
    expect(await explain()).toMatch(words);
    expect(await metrics()).toContain('farmgate_breaker_open{worker="bad",model="m"} 1');
    for (let i = 0; i < 6; i += 1) expect(await ask("m")).toEqual([200, "good", "1"]);
    for (let i = 0; i < 6; i += 1) expect(await ask("n@bad")).toEqual([200, "bad", "1"]);
    // What hangs is neither ended nor asked of another, no model is loaded or dropped, and none answers for another.
    expect(bad.request(before).closed).toBe(false);
    expect([...bad.ordered, ...good.ordered]).toEqual([]);
    expect(good.asked.map(modelOf)).toEqual(good.asked.map(() => "m"));
    void streams(bad.request(before));
    expect(await hung).toEqual([200, "bad", "1"]);
    expect([await isAside(), (await worker()).problem]).toEqual([false, null]);
    expect(await metrics()).toContain('farmgate_breaker_open{worker="bad",model="m"} 0');
  });

  it("gets one caller as a trial after its pause, though the first one hangs on, and comes back by one", async () => {
    const bad = await both();
    const good = await both();
    const { ask, isAside, worker } = await farm({ bad, good });
    bad.answer = (asked) => (modelOf(asked) === "m" ? hangs : streams)(asked);
    void ask("m@bad").catch(() => {});
    await until("it is aside", isAside);
    const before = bad.asked.length;
    await until("its trial is due", async () => (await worker()).problem?.includes("its trial is due") === true);
    let elsewhere = 0;
    for (let i = 0; i < 5; i += 1) void ask("m").then(() => (elsewhere += 1));
    await until("the others are answered", () => elsewhere === 4);
    expect(bad.asked.length).toBe(before + 1);
    bad.answer = streams;
    await until("a trial brings it back", async () => {
      await ask("m");
      return !(await isAside());
    });
  });

  it("is still asked where no other worker has it", async () => {
    const bad = await both();
    const { ask, isAside } = await farm({ bad });
    bad.answer = hangs;
    void ask("m").catch(() => {});
    await until("it is aside", isAside);
    bad.answer = streams;
    expect(await ask("m")).toEqual([200, "bad", "1"]);
    expect(await isAside()).toBe(false);
  });
});

describe("no model is put aside for a silence", () => {
  /** Whether it was put aside in half a minute of the farm's time. */
  const isEverAside = async (isAside: () => Promise<boolean>) => {
    for (let i = 0; i < 30; i += 1) {
      if (await isAside()) return true;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    return false;
  };

  it("that streams another answer meanwhile", async () => {
    const bad = await both();
    const { ask, isAside } = await farm({ bad });
    const open: Asked[] = [];
    bad.answer = (asked) => {
      open.push(asked);
      if (open.length > 1) return;
      asked.response.writeHead(200, { "content-type": "text/event-stream" });
      const timer = setInterval(() => asked.response.write("data: {}\n\n"), 20);
      asked.response.on("close", () => clearInterval(timer));
    };
    void ask("m").catch(() => {});
    await until("it streams", () => open.length === 1);
    void ask("m").catch(() => {});
    await until("another waits", () => open.length === 2);
    expect(await isEverAside(isAside)).toBe(false);
  });

  it("that its agent tells to wait for its turn", async () => {
    const bad = await both();
    const { ask, isAside } = await farm({ bad });
    bad.answer = ({ response }) => {
      const timer = setInterval(() => response.writeProcessing(), 20);
      response.on("close", () => clearInterval(timer));
    };
    void ask("m").catch(() => {});
    expect(await isEverAside(isAside)).toBe(false);
  });

  it("that is known by no answers", async () => {
    const bad = await fakeWorker({ m: "warm", n: "warm", x: "warm" }, streams);
    const { ask, isAside } = await farm({ bad });
    bad.answer = (asked) => (modelOf(asked) === "x" ? hangs : completes())(asked);
    void ask("x").catch(() => {});
    expect(await isEverAside(isAside)).toBe(false);
  });
});
