import type { Clock } from "@farmgate/shared";
import { createSystemClock } from "@farmgate/wire";
import { expect, test } from "vitest";
import { chat, engineWith } from "./ask.ts";

const SLOW = { slots: 1, tokensPerSecond: 20, models: [{ name: "a", loaded: true }, "b"] };

test("a caller who leaves in the middle of a stream frees the slot for the next", async () => {
  const engine = await engineWith(SLOW);
  const first = chat(engine, { stream: true, max_tokens: 1_000 });
  await first.firstBytes;
  const second = chat(engine, { stream: true, max_tokens: 0 });
  await engine.waitFor((stats) => stats.active === 1 && stats.queued === 1);
  const leftAt = performance.now();
  first.leave();
  expect((await second.answer).status).toBe(200);
  const left = engine.stats.log.find((entry) => entry.event === "left");
  expect(left?.at).toBeGreaterThanOrEqual(leftAt);
  expect((left?.at ?? 0) - leftAt).toBeLessThan(500);
  expect(engine.stats).toMatchObject({ left: 1, served: 1, active: 0, queued: 0 });
});

test("a caller who leaves while the prompt is read, or who waits for a whole answer, is noticed too", async () => {
  const engine = await engineWith({ ...SLOW, promptTokensPerSecond: 1 });
  for (const stream of [true, false]) {
    const asked = chat(engine, { stream });
    await engine.waitFor((stats) => stats.active === 1);
    asked.leave();
    await engine.waitFor((stats) => stats.active === 0);
  }
  expect(engine.stats).toMatchObject({ left: 2, served: 0 });
});

test("nothing goes on for a caller who left", async () => {
  const real = createSystemClock();
  const pending = new Set<() => void>();
  const after: Clock["after"] = (ms, fn) => {
    const forget = () => pending.delete(forget);
    const cancel = real.after(ms, () => {
      forget();
      fn();
    });
    pending.add(forget);
    return () => {
      forget();
      cancel();
    };
  };
  const engine = await engineWith(SLOW, { clock: { ...real, after } });
  const asked = chat(engine, { stream: true, max_tokens: 1_000 });
  await asked.firstBytes;
  expect(pending.size).toBe(1);
  asked.leave();
  await engine.waitFor((stats) => stats.left === 1);
  expect(pending.size).toBe(0);
});

test("a caller who leaves the queue is not served later", async () => {
  const engine = await engineWith(SLOW);
  const first = chat(engine, { max_tokens: 1_000 });
  await engine.waitFor((stats) => stats.active === 1);
  const second = chat(engine);
  await engine.waitFor((stats) => stats.queued === 1);
  second.leave();
  await engine.waitFor((stats) => stats.queued === 0);
  first.leave();
  await engine.waitFor((stats) => stats.active === 0);
  expect(engine.stats.log.filter((entry) => entry.event === "start")).toHaveLength(1);
});

test("a caller who leaves during a load does not stop it", async () => {
  const engine = await engineWith({ models: ["a"], load: "200ms" });
  const asked = chat(engine);
  await engine.waitFor((stats) => stats.loads === 1);
  asked.leave();
  await engine.waitFor((stats) => stats.left === 1);
  await engine.waitFor(() => engine.loadedModels().length === 1);
  expect(engine.stats).toMatchObject({ served: 0, active: 0, queued: 0 });
});

test("a reader slower than the engine holds it up rather than fill its memory, and loses nothing", async () => {
  const engine = await engineWith({ models: [{ name: "a", loaded: true }] });
  const asked = chat(engine, { stream: true, max_tokens: 100_000 });
  await asked.firstBytes;
  asked.pause();
  // An unread answer of 20 MB does not fit into the socket's buffers: the job is still in its slot.
  expect(engine.stats.active).toBe(1);
  asked.resume();
  const { body } = await asked.answer;
  expect(body.split("\n\n").length).toBe(100_000 + 4);
  expect(body.endsWith("[DONE]\n\n")).toBe(true);
});
