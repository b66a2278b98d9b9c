import { afterEach, expect, test } from "vitest";
import { askChat } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestEngine, startTestGateway } from "../harness/gateway-farm.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

test("however long the drain may last, running answers end and the gateway exits with 0", async () => {
  const engine = await startTestEngine(cleanup, { models: [{ name: "m", loaded: true }], tokensPerSecond: 40 });
  const { gateway, url } = await startTestGateway(cleanup, { a: engine.url }, { drain: "100000h" });
  const asked = askChat(url, "m");
  await asked.firstByte;
  const code = await gateway.stop();
  expect((await asked.answer).body).toMatch(/data: \[DONE\]\n\n$/);
  expect(code).toBe(0);
  expect(gateway.stderr()).toBe("");
});
