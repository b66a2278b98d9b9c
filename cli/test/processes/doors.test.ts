import type { Worker } from "node:cluster";
import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { Doors } from "../../src/processes/doors.ts";

const KEY = "127.0.0.1:8080:4::0";

/** A process as the primary sees it, which is handed connections by their numbers. */
function watched(doors: Doors) {
  const process = Object.assign(new EventEmitter(), { send: (..._sent: unknown[]) => true });
  const worker = Object.assign(new EventEmitter(), { process });
  doors.watch(worker as unknown as Worker);
  const says = (message: object) => process.emit("internalMessage", { cmd: "NODE_CLUSTER", ...message });
  const hand = (seq: number) => {
    const handle = { isClosed: false, close: () => void (handle.isClosed = true) };
    process.send({ act: "newconn", key: KEY, seq }, handle);
    return handle;
  };
  /** Node's answer to its question for the address. */
  const isLetIn = (errno: number | null = null) => process.send({ ack: 0, key: KEY, errno });
  return { worker, says, hand, isLetIn, closes: () => says({ act: "close", key: KEY }) };
}

it("closes a connection that no process takes any more, and none that another one may take", () => {
  const doors = new Doors();
  const [one, two] = [watched(doors), watched(doors)];
  for (const { isLetIn } of [one, two]) isLetIn();
  const [taken, passedOn, late] = [1, 2, 3].map((seq) => one.hand(seq));
  one.says({ ack: 1, accepted: true });
  one.closes();
  one.says({ ack: 2, accepted: false });
  two.closes();
  one.says({ ack: 3, accepted: false });
  expect([taken, passedOn, late].map((handle) => handle?.isClosed)).toEqual([false, false, true]);
});

it("leaves a connection to a process that is about to listen, since Node hands it on to that one already", () => {
  const doors = new Doors();
  const [one, two, refused] = [watched(doors), watched(doors), watched(doors)];
  one.isLetIn();
  const [passedOn, late] = [one.hand(1), one.hand(2)];
  two.isLetIn();
  one.closes();
  one.says({ ack: 1, accepted: false });
  expect(passedOn.isClosed).toBe(false);
  refused.isLetIn(-98);
  two.closes();
  one.says({ ack: 2, accepted: false });
  expect(late.isClosed).toBe(true);
});

it("closes what nobody took before all closed their doors, though another opens the same address since", () => {
  const doors = new Doors();
  const [one, two] = [watched(doors), watched(doors)];
  one.isLetIn();
  const late = one.hand(1);
  one.closes();
  two.isLetIn();
  const passedOn = two.hand(2);
  watched(doors).isLetIn();
  two.closes();
  one.says({ ack: 1, accepted: false });
  two.says({ ack: 2, accepted: false });
  expect([late.isClosed, passedOn.isClosed]).toEqual([true, false]);
});

it("goes by what Node still has of a process that died, which is told with its channel's end", () => {
  const doors = new Doors();
  const [one, two] = [watched(doors), watched(doors)];
  for (const { isLetIn } of [one, two]) isLetIn();
  const [passedOn, late] = [one.hand(1), one.hand(2)];
  one.closes();
  two.worker.emit("exit", null, "SIGKILL");
  one.says({ ack: 1, accepted: false });
  two.worker.emit("disconnect");
  one.says({ ack: 2, accepted: false });
  expect([passedOn.isClosed, late.isClosed]).toEqual([false, true]);
});

it("closes what a process had not taken when it died", () => {
  const doors = new Doors();
  const { worker, says, hand, isLetIn } = watched(doors);
  isLetIn();
  const [taken, lost] = [hand(1), hand(2)];
  says({ ack: 1, accepted: true });
  worker.emit("exit", null, "SIGKILL");
  expect([taken.isClosed, lost.isClosed]).toEqual([false, true]);
});
