import type { Worker } from "node:cluster";
import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { Doors } from "../../src/processes/doors.ts";

/** A process as the primary sees it, which is handed connections by their numbers. */
function watched(doors: Doors) {
  const process = Object.assign(new EventEmitter(), { send: (..._sent: unknown[]) => true });
  const worker = Object.assign(new EventEmitter(), { process });
  doors.watch(worker as unknown as Worker);
  const says = (message: object) => process.emit("internalMessage", { cmd: "NODE_CLUSTER", ...message });
  const hand = (seq: number) => {
    const handle = { isClosed: false, close: () => void (handle.isClosed = true) };
    process.send({ act: "newconn", seq }, handle);
    return handle;
  };
  return { worker, says, hand };
}

it("closes a connection that no process takes any more, and none that another one may take", () => {
  const doors = new Doors();
  const [one, two] = [watched(doors), watched(doors)];
  for (const { says } of [one, two]) says({ act: "listening" });
  const [taken, passedOn, late] = [1, 2, 3].map((seq) => one.hand(seq));
  one.says({ ack: 1, accepted: true });
  one.says({ act: "close" });
  one.says({ ack: 2, accepted: false });
  two.says({ act: "close" });
  one.says({ ack: 3, accepted: false });
  expect([taken, passedOn, late].map((handle) => handle?.isClosed)).toEqual([false, false, true]);
});

it("closes what a process had not taken when it died", () => {
  const doors = new Doors();
  const { worker, says, hand } = watched(doors);
  says({ act: "listening" });
  const [taken, lost] = [hand(1), hand(2)];
  says({ ack: 1, accepted: true });
  worker.emit("exit", null, "SIGKILL");
  expect([taken.isClosed, lost.isClosed]).toEqual([false, true]);
});
