import { describe, expect, it } from "vitest";
import { fakeWorker } from "../support/fake-worker.ts";
import { agents, chat, runGateway } from "../support/gateway.ts";

const user = (content: string) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });

describe("a conversation", () => {
  it("stays with the worker that answered its earlier turns, while new ones take turns", async () => {
    const a = await fakeWorker({ m: "warm" });
    const b = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a, b }) });
    const ask = async (messages: object[]) => (await chat(gateway, { messages })).headers.get("x-farmgate-worker");
    const homes = new Map<string, string | null>();
    for (const topic of ["one", "two", "three", "four"]) homes.set(topic, await ask([user(topic)]));
    expect(new Set(homes.values())).toEqual(new Set(["a", "b"]));
    for (const [topic, home] of homes) {
      expect(await ask([user(topic), assistant("hello"), user("more")])).toBe(home);
    }
  });

  it("is not held when affinity is off", async () => {
    const a = await fakeWorker({ m: "warm" });
    const b = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a, b }), routing: { affinity: false } });
    const messages = [user("one"), assistant("hello"), user("more")];
    const workers = new Set<string | null>();
    for (let i = 0; i < 4; i += 1) workers.add((await chat(gateway, { messages })).headers.get("x-farmgate-worker"));
    expect(workers.size).toBe(2);
  });
});
