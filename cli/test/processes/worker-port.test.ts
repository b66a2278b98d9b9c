import type { Worker } from "node:cluster";
import { EventEmitter } from "node:events";
import { createLog } from "@farmgate/wire";
import { expect, it } from "vitest";
import { portOf } from "../../src/processes/worker-port.ts";

it("goes on when the primary was killed and something is sent before that is noticed", () => {
  const worker = Object.assign(new EventEmitter(), {
    isConnected: () => true,
    // As Node tells of a channel whose other end is closed.
    send: () => worker.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
  });
  const port = portOf(worker as unknown as Worker, createLog("gateway", "silent"), () => {});
  const closed: string[] = [];
  port.listen({ messages: () => {}, opened: () => {}, closed: () => closed.push("closed") });
  port.send([{ kind: "leave" }]);
  expect(closed).toEqual([]);
  worker.emit("disconnect");
  expect(closed).toEqual(["closed"]);
});
