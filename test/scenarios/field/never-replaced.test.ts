import { afterEach, describe, expect, it } from "vitest";
import { askChat } from "../../harness/ask.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { startTestGateway } from "../../harness/gateway-farm.ts";
import { startLoadedFile } from "../../harness/loaded-file.ts";
import { until } from "../../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

describe("an engine that goes silent", () => {
  it("is not restarted on suspicion, nor is its model unloaded, and no other model answers for it", async () => {
    let silent = false;
    const box = await startLoadedFile(cleanup, ["a", "b"], {
      answers: (path) => silent && path === "/v1/chat/completions",
    });
    const { url } = await startTestGateway(cleanup, { box: box.url }, { timeouts: { firstByte: "300ms" } });
    expect((await askChat(box.url, "a").answer).status).toBe(200);
    silent = true;
    const statuses: number[] = [];
    for (let i = 0; i < 5; i += 1) statuses.push((await askChat(url, "a").answer).status);
    expect(statuses.filter((status) => status < 500)).toEqual([]);
    await until(async () => (await box.health()).inflight === 0, "its slot is free");
    expect(await box.swapLog()).toEqual(["start a"]);
    expect(box.loaded()).toBe("a");
    expect(box.met.map(({ model }) => model)).toEqual(["a"]);
    silent = false;
    expect(await askChat(box.url, "a").answer).toMatchObject({
      status: 200,
      body: expect.stringContaining('"model":"a"'),
    });
  });
});
