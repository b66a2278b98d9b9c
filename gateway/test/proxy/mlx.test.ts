import { describe, expect, it } from "vitest";
import { fakeWorker, refuses } from "../support/fake-worker.ts";
import { chat, errorOf, runGateway } from "../support/gateway.ts";
import { mlxServer } from "../support/mlx-server.ts";

const workerOf = (url: string) => ({ name: "mac", url, engine: "mlx" });

describe("an mlx server as a worker", () => {
  it("gets the length of every body, small or large", async () => {
    const mac = await mlxServer();
    const gateway = await runGateway({ workers: [workerOf(mac.url)] });
    for (const words of ["hi", "long ".repeat(20_000)]) {
      const response = await chat(gateway, { messages: [{ role: "user", content: words }] });
      expect([words.length, response.status]).toEqual([words.length, 200]);
    }
    expect(mac.asked.map(({ body }) => body.length > 16_384)).toEqual([false, true]);
    for (const { head, body } of mac.asked) {
      expect(head).toContain(`content-length: ${body.length}`);
      expect(head).not.toContain("transfer-encoding");
    }
  });

  it("is asked once with a request that it drops, which ends as a 502 and is held against no other", async () => {
    const mac = await mlxServer();
    const gateway = await runGateway({ workers: [workerOf(mac.url)] });
    for (let round = 0; round < 6; round += 1) {
      expect(await errorOf(await chat(gateway, '{"model":"m"}'))).toMatchObject({
        status: 502,
        code: "worker_failed",
        message: expect.stringContaining("mac: closed the connection unanswered"),
      });
    }
    expect(mac.asked).toHaveLength(6);
    const good = await chat(gateway);
    expect([good.status, good.headers.get("x-farmgate-worker")]).toEqual([200, "mac"]);
  });

  it("leaves such a request to a worker of another kind, which says what is wrong with it", async () => {
    const mac = await mlxServer();
    const box = await fakeWorker({ m: "cold" }, refuses(400, { error: { message: "`messages` is missing" } }));
    const gateway = await runGateway({ workers: [workerOf(mac.url), { name: "box", url: box.url, engine: "agent" }] });
    const response = await chat(gateway, '{"model":"m"}');
    expect(response.headers.get("x-farmgate-worker")).toBe("box");
    expect(await errorOf(response)).toMatchObject({ status: 400, message: "`messages` is missing" });
    expect(mac.asked).toHaveLength(1);
  });
});
