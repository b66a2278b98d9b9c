import { afterEach, expect, it } from "vitest";
import { type Asked, askChat, getJson } from "../harness/ask.ts";
import { startMachine } from "../harness/command-machine.ts";
import { farmgateSays } from "../harness/farm-words.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestGateway } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

interface Live {
  id: string;
  phase: string;
  age_ms: number;
  queue: { position: number; waited_ms: number; bound_ms: number } | null;
}

it("three requests that wait at an agent are told with their places and the longest waits that are left", async () => {
  const machine = await startMachine(cleanup, "box", [{ name: "m", slots: 1, tokensPerSecond: 10 }], {
    queue: { longestAnswer: "20s" },
  });
  await machine.order("m", "load");
  const { url } = await startTestGateway(cleanup, { box: machine.url });
  const live = async () => (await getJson<{ requests: Live[] }>(`${url}/farm/requests`)).requests;
  const running = askChat(url, "m", { max_tokens: 60 });
  await running.firstByte;
  const waiting: Asked[] = [];
  for (const place of [1, 2, 3]) {
    waiting.push(askChat(url, "m", { max_tokens: 5, seed: place }));
    await until(async () => (await live()).filter(({ queue }) => queue !== null).length === place, `${place} wait`);
  }
  const requests = await live();
  const status = await farmgateSays(url, "status");
  console.log(`places: ${requests.map(({ queue }) => JSON.stringify(queue)).join(" ")}`);

  expect(requests.map(({ queue }) => queue?.position ?? null)).toEqual([null, 1, 2, 3]);
  const [first, second, third] = requests.slice(1).map(({ age_ms: age, queue }) => ({ age, ...queue! }));
  if (first === undefined || second === undefined || third === undefined) throw new Error("three are told");
  for (const { age, waited_ms: waited } of [first, second, third]) {
    expect(waited).toBeLessThanOrEqual(age + 50);
    expect(waited).toBeGreaterThan(age - 1_000);
  }
  expect(first.waited_ms).toBeGreaterThan(second.waited_ms);
  expect(second.waited_ms).toBeGreaterThan(third.waited_ms);
  // One slot, and nothing to swap: the place times the longest answer, less what it has waited.
  for (const { position, waited_ms: waited, bound_ms: bound } of [first, second, third]) {
    expect(bound + waited).toBeGreaterThan(position * 20_000 - 1_000);
    expect(bound + waited).toBeLessThan(position * 20_000 + 1_000);
  }
  const lines = requests
    .slice(1)
    .map(
      ({ id, queue }) => new RegExp(`^${id} waits \\S+ \\S+ at box, place ${queue?.position}, at most .+ more$`, "m"),
    );
  for (const line of lines) expect(status).toMatch(line);

  const answers = await Promise.all(waiting.map(({ answer }) => answer));
  for (const [i, { firstByteAt, sentAt, status: code }] of answers.entries()) {
    expect(code).toBe(200);
    expect(firstByteAt - sentAt).toBeLessThan((i + 1) * 20_000);
  }
  expect(answers.map(({ firstByteAt }) => firstByteAt)).toEqual(
    answers.map(({ firstByteAt }) => firstByteAt).toSorted((a, b) => a - b),
  );
  await running.answer;
});
