import { describe, expect, it } from "vitest";
import { fakeWorker } from "./support/fake-worker.ts";
import { agents, chat, configOf, runGateway } from "./support/gateway.ts";
import { until } from "./support/until.ts";

describe("the series of the metrics", () => {
  it("grow with nothing that callers type", async () => {
    const worker = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const series = async () => {
      const text = await (await fetch(`${gateway.url}/metrics`)).text();
      return text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;
    };
    const round = async (i: number) => {
      const authorization = `Bearer key-${i}`;
      const answers = [
        chat(gateway, { model: `made-up-${i}` }, { headers: { authorization, "x-request-id": `id-${i}` } }),
        chat(gateway, { model: "m", user: `user-${i}` }, { headers: { authorization } }),
        chat(gateway, { model: `m@nobody-${i}` }),
        fetch(`${gateway.url}/v1/made-up-${i}`, { method: "POST", body: "{}" }),
        fetch(`${gateway.url}/v1/chat/completions?made=${i}`, { method: "PUT", body: "{}" }),
      ];
      for (const answer of await Promise.all(answers)) await answer.arrayBuffer();
    };
    await round(0);
    await until("it is counted", async () => {
      return (await (await fetch(`${gateway.url}/metrics`)).text()).includes('model="other"');
    });
    const before = await series();
    for (let i = 1; i <= 30; i += 1) await round(i);
    expect(await series()).toBe(before);
  });

  it("go with the workers and models that they are about", async () => {
    const [a, b] = [await fakeWorker({ m: "warm", n: "warm" }), await fakeWorker({ m: "warm" })];
    const gateway = await runGateway({ workers: agents({ a, b }) });
    const text = async () => (await fetch(`${gateway.url}/metrics`)).text();
    await Promise.all(["m", "m", "n"].map((model) => chat(gateway, { model })));
    await until("all are counted", async () => /worker="a"[^]*model="n"/.test(await text()));
    gateway.reload(configOf({ workers: agents({ b }) }));
    const after = await text();
    expect(after).not.toMatch(/worker="a"|model="n"/);
    expect(after).toMatch(/farmgate_requests_total\{api="chat",model="m",worker="b"/);
  });
});
