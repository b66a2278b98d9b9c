import { describe, expect, it } from "vitest";
import { fakeWorker, hangs } from "../support/fake-worker.ts";
import { agents, chat, errorOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const keys = [
  { name: "root", key: "root-key", admin: true },
  { name: "any", key: "any-key" },
];
const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

/** The lines of a recording so far. */
async function record(url: string, init: RequestInit = {}) {
  const leave = new AbortController();
  const answer = await fetch(`${url}/farm/trace`, { ...init, signal: leave.signal });
  expect(answer.headers.get("content-type")).toBe("application/x-ndjson");
  let text = "";
  const whole = (async () => {
    const decoder = new TextDecoder();
    for await (const piece of answer.body ?? []) text += decoder.decode(piece, { stream: true });
  })();
  const lines = () => text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)])) as Line[];
  return { lines, whole, leave: () => leave.abort(), text: () => text };
}

interface Line extends Record<string, unknown> {
  status?: number;
}

describe("a trace of the farm", () => {
  it("is for admins, and only for those who read it", async () => {
    const gateway = await runGateway({ keys, workers: agents({ a: await fakeWorker({ m: "warm" }) }) });
    const url = `${gateway.url}/farm/trace`;
    expect((await fetch(url)).status).toBe(401);
    const refused = await errorOf(await fetch(url, as("any-key")));
    expect(refused).toMatchObject({ status: 403, code: "forbidden", message: "Only an admin key may record a trace." });
    expect((await fetch(url, { method: "POST", ...as("root-key") })).status).toBe(405);
    expect((await fetch(url, { method: "HEAD", ...as("root-key") })).status).toBe(404);
    const { lines, leave, whole } = await record(gateway.url, as("root-key"));
    await until("its head is there", () => lines().length === 1);
    leave();
    await whole.catch(() => {});
  });

  it("is read by sixteen at once, and by another one when one of them has left", async () => {
    const gateway = await runGateway({ keys, workers: agents({ a: await fakeWorker({ m: "warm" }) }) });
    const all = await Promise.all(Array.from({ length: 16 }, () => record(gateway.url, as("root-key"))));
    // They are left before the test waits for them.
    for (const { whole } of all) whole.catch(() => {});
    const refused = await errorOf(await fetch(`${gateway.url}/farm/trace`, as("root-key")));
    expect(refused).toMatchObject({ status: 429, code: "rate_limited" });
    all[0]?.leave();
    await until("there is room again", async () => {
      const answer = await fetch(`${gateway.url}/farm/trace`, as("root-key"));
      await answer.body?.cancel();
      return answer.status === 200;
    });
    for (const { leave: end, whole } of all) {
      end();
      await whole.catch(() => {});
    }
  });

  it("has a line for each request that was work, and nothing of what was said or who said it", async () => {
    const worker = await fakeWorker({ "m-large": "warm" });
    const gateway = await runGateway({
      keys,
      workers: agents({ a: worker }),
      models: { aliases: { big: "m-large" } },
    });
    await until("it is ready", async () => (await fetch(`${gateway.url}/readyz`)).ok);
    const one = await record(gateway.url, as("root-key"));
    const other = await record(gateway.url, as("root-key"));
    const messages = [{ role: "user", content: "a secret" }];
    const headers = { ...as("any-key").headers, "x-farmgate-deadline-ms": "90000", "x-farmgate-priority": "batch" };
    expect((await chat(gateway, { model: "big", messages }, { headers })).status).toBe(200);
    // None of these was work: no such model, a question only, nonsense, no such key.
    await chat(gateway, { model: "none", messages }, as("any-key"));
    await chat(gateway, { model: "big" }, { headers: { ...as("any-key").headers, "x-farmgate-dry-run": "1" } });
    await chat(gateway, "{", as("any-key"));
    await chat(gateway, { model: "big" }, as("no-key"));
    worker.answer = (asked) => void asked.response.destroy();
    expect((await chat(gateway, { model: "big", messages }, as("root-key"))).status).toBe(502);
    for (const { lines, text } of [one, other]) {
      await until("both are there", () => lines().length === 3);
      const [head, first, second] = lines();
      expect(head).toMatchObject({ farmgate_trace: 1, started: expect.stringMatching(/^20\d\d-/) as string });
      expect(first).toMatchObject({ model: "m-large", api: "chat", status: 200, key: 1, deadline: 90_000 });
      expect(first).toMatchObject({ priority: "batch", ttft: expect.any(Number) as number });
      expect(second).toMatchObject({ model: "m-large", status: 502, key: 2, estimated: true });
      expect(text()).not.toMatch(/secret|any|root|"big"/);
    }
    one.leave();
    await one.whole.catch(() => {});
    await gateway.close();
    await other.whole;
  });

  it("ends whole when the gateway stops, with the requests that ran until then", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }), drain: "5s" });
    await until("it is ready", async () => (await fetch(`${gateway.url}/readyz`)).ok);
    const { lines, whole } = await record(gateway.url);
    const running = chat(gateway);
    await until("it runs", () => worker.asked.length === 1);
    const closed = gateway.close();
    worker.request(0).response.end("{}");
    expect((await running).status).toBe(200);
    await whole;
    await closed;
    expect(lines().map(({ status }) => status)).toEqual([undefined, 200]);
  });
});
