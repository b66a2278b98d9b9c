import type { AgentCatalog } from "@farmgate/shared";
import { afterEach, describe, expect, it } from "vitest";
import { ask, askChat } from "../../harness/ask.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { startLoadedFile } from "../../harness/loaded-file.ts";
import { until } from "../../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const MAX_WAIT_MS = 1_000;
const ANSWER_MS = 40;

describe("the order A B A A C A B C beside an endless stream of A", () => {
  it("answers C soon after maxWait, by as few swaps as that takes", async () => {
    const farm = await startLoadedFile(cleanup, ["a", "b", "c"], {
      swapMs: 100,
      answerMs: ANSWER_MS,
      queue: { maxWait: `${MAX_WAIT_MS}ms` },
      model: { slots: 4 },
    });
    const stream: Promise<unknown>[] = [];
    const enough = new AbortController();
    const running = (async () => {
      while (!enough.signal.aborted) {
        stream.push(askChat(farm.url, "a").answer);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    await until(() => farm.met.length > 3, "the stream of A runs");
    const mixed = ["a", "b", "a", "a", "c", "a", "b", "c"].map((model) => askChat(farm.url, model).answer);
    const answers = await Promise.all(mixed);
    const startsUntilC = (await farm.swapLog()).filter((line) => line.startsWith("start"));
    enough.abort();
    await running;
    await Promise.all(stream);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const waited = answers.filter((_, i) => i === 4 || i === 7).map(({ firstByteAt, sentAt }) => firstByteAt - sentAt);
    console.log(
      `A B A A C A B C: C waited ${waited.map((ms) => (ms / 1_000).toFixed(1)).join(" and ")} s at maxWait 1 s,`,
      startsUntilC.join(", "),
    );
    expect(Math.max(...waited)).toBeLessThan(MAX_WAIT_MS + 10_000);
    expect(startsUntilC.length).toBeLessThanOrEqual(5);
    expect(farm.met.filter(({ loaded }) => !loaded)).toEqual([]);
  });
});

describe("64 requests at once", () => {
  it("are queued and served", async () => {
    const farm = await startLoadedFile(cleanup, ["a"], { answerMs: 20, model: { slots: 2 } });
    const answers = await Promise.all(Array.from({ length: 64 }, () => askChat(farm.url, "a").answer));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });

  it("are queued up to the cap, and those over it are told 503 in JSON and when to come again", async () => {
    const farm = await startLoadedFile(cleanup, ["a"], { answerMs: 200, queue: { maxDepth: 20 } });
    const running = askChat(farm.url, "a");
    await running.firstByte;
    const answers = await Promise.all(Array.from({ length: 64 }, () => askChat(farm.url, "a").answer));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(20);
    expect(refused.length).toBeGreaterThan(30);
    for (const { status, body, headers } of refused) {
      expect(status).toBe(503);
      expect(JSON.parse(body)).toMatchObject({ error: { code: "queue_full", message: expect.stringMatching(/./) } });
      expect(Number(headers["retry-after"])).toBeGreaterThan(0);
    }
    expect((await running.answer).status).toBe(200);
  });
});

describe("a hundred requests of one key and one of another", () => {
  it("serve the one after two others at most", async () => {
    const keys = ["x", "y"].map((name) => ({ name, key: `key-of-${name}` }));
    const farm = await startLoadedFile(cleanup, ["a"], { answerMs: 300, more: { keys } });
    const authorization = "Bearer key-of-y";
    const asks = (who: string, id: string) =>
      ask(
        `${farm.url}/v1/chat/completions`,
        { model: "a", stream: true, messages: [{ role: "user", content: who }] },
        { authorization: `Bearer key-of-${who}`, "x-request-id": id },
      );
    const many = Array.from({ length: 100 }, (_, i) => asks("x", `x-${i}`));
    await until(async () => {
      const { queue_depth: waiting } = await farm.health();
      return waiting + farm.met.length >= 100;
    }, "the hundred are there");
    const one = asks("y", "y-1");
    await until(async () => {
      const catalog = await fetch(`${farm.url}/catalog`, { headers: { authorization } });
      const { queue } = (await catalog.json()) as AgentCatalog;
      return queue.waiting.some(({ id }) => id === "y-1");
    }, "the one waits too");
    const before = farm.met.length;
    const { status, firstByteAt, sentAt } = await one.answer;
    const others = farm.met.findIndex(({ text }) => text === "y") - before;
    console.log(
      `100 of x, 1 of y: y after ${others} more of x, ${(firstByteAt - sentAt).toFixed(0)} ms, an answer is 300 ms`,
    );
    for (const asked of many) asked.leave();
    expect(status).toBe(200);
    expect(others).toBeLessThanOrEqual(2);
    await until(async () => (await farm.health()).queue_depth === 0, "those who left are gone");
  });
});

describe("preload", () => {
  it("loads what is listed and nothing else, one where one is loaded at a time", async () => {
    const farm = await startLoadedFile(cleanup, ["a", "b", "c"], { models: { b: { preload: true } } });
    await until(() => farm.loaded() === "b", "b is loaded");
    expect((await askChat(farm.url, "b").answer).status).toBe(200);
    expect(await farm.swapLog()).toEqual(["start b"]);
    const both = await startLoadedFile(cleanup, ["a", "b", "c"], {
      models: { b: { preload: true }, c: { preload: true } },
    });
    await until(async () => (await both.health()).model === "b", "b is loaded");
    const none = await startLoadedFile(cleanup, ["a", "b"]);
    await none.catalog();
    expect(await both.swapLog()).toEqual(["start b"]);
    expect(await none.swapLog()).toEqual([]);
  });
});
