import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Access, createLog, createSystemClock, KeyRing, Upstreams } from "@farmgate/wire";
import { expect, it, onTestFinished } from "vitest";
import type { Waiter } from "../../src/executor.ts";
import { Learned } from "../../src/figures/learned.ts";
import { agentConfigSchema } from "../../src/index.ts";
import { Inference, type InferenceContext } from "../../src/serve/inference.ts";
import { ModelBook } from "../../src/served-model.ts";
import { only } from "../support/conditions.ts";
import { startServer } from "../attached/attached-rig.ts";

/** Answers every call with nothing: what is not looked at here. */
const ignored = new Proxy({}, { get: () => () => {} });

it("gives an attached engine its own key, and never the caller's", async () => {
  const clock = createSystemClock();
  const engine = await startServer(() => ({ ok: true }));
  const book = new ModelBook(agentConfigSchema.parse({ engines: [{ url: engine.url }] }));
  const config = { swap: { command: "x" }, models: [{ name: "m", url: engine.url }] };
  const like = only(new ModelBook(agentConfigSchema.parse(config)).models);
  const listed = (name: string, apiKey: string | null) => ({ ...like, name, engineName: name, apiKey });
  book.replaceEngine(engine.url, [listed("keyed", "engine-key"), listed("open", null)]);
  const upstreams = new Upstreams(5_000);
  const keys = new KeyRing([]);
  const inference = new Inference({
    models: book,
    keys,
    access: new Access(keys, { ...agentConfigSchema.parse({}), origins: [] }, "box"),
    executor: { submit: (_job: unknown, waiter: Waiter) => waiter.granted(0), finished() {}, leave() {} },
    upstreams,
    learned: new Learned(),
    metrics: ignored,
    clock,
    log: createLog("agent", "silent"),
  } as unknown as InferenceContext);
  const door = createServer((request, response) => void inference.handle(request, response));
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    door.closeAllConnections();
    door.close();
    await upstreams.destroy();
  });
  for (const model of ["keyed", "open"]) {
    const answer = await fetch(`http://127.0.0.1:${(door.address() as AddressInfo).port}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer caller-key", "x-api-key": "caller-key" },
      body: JSON.stringify({ model }),
    });
    expect(answer.status).toBe(200);
  }
  expect(engine.calls.map(({ headers }) => headers.authorization)).toEqual(["Bearer engine-key", undefined]);
  expect(engine.calls.map(({ headers }) => headers["x-api-key"])).toEqual([undefined, undefined]);
});
