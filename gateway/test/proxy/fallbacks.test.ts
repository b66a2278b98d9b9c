import { describe, expect, it } from "vitest";
import { completes, fakeWorker, refuses } from "../support/fake-worker.ts";
import { agents, chat, errorOf, runGateway } from "../support/gateway.ts";

describe("fallbacks", () => {
  it("are tried when nothing can serve the model", async () => {
    const worker = await fakeWorker({ small: "warm" });
    const gateway = await runGateway({ workers: agents({ a: worker }), models: { fallbacks: { big: ["small"] } } });
    const response = await chat(gateway, { model: "big" });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-farmgate-model")).toBe("small");
  });

  it("are tried when the model cannot be loaded, and only as far as the key allows", async () => {
    const failed = { error: { message: "no memory", code: "load_failed" } };
    const worker = await fakeWorker({ big: "cold", small: "warm" });
    worker.answer = (asked) => (asked.body.includes("big") ? refuses(503, failed)(asked) : completes("small")(asked));
    const keys = [
      { name: "all", key: "k1" },
      { name: "big-only", key: "k2", models: ["big"] },
    ];
    const models = { fallbacks: { big: ["small"] } };
    const gateway = await runGateway({ workers: agents({ a: worker }), models, keys });
    const ask = (key: string) => chat(gateway, { model: "big" }, { headers: { authorization: `Bearer ${key}` } });
    expect((await ask("k1")).headers.get("x-farmgate-model")).toBe("small");
    expect(await errorOf(await ask("k2"))).toMatchObject({ status: 503 });
    const denied = await chat(gateway, { model: "small" }, { headers: { authorization: "Bearer k2" } });
    expect(await errorOf(denied)).toMatchObject({ status: 403, code: "model_not_allowed" });
  });
});
