import type { Worker } from "node:cluster";
import { EventEmitter } from "node:events";
import { createLog } from "@farmgate/wire";
import { expect, it } from "vitest";
import { steppedClock } from "../../../gateway/test/support/stepped-clock.ts";
import type { FromProcess, ToProcess } from "../../src/processes/messages.ts";
import { portOf } from "../../src/processes/worker-port.ts";

const log = createLog("gateway", "silent");

/** A process's end of the channel, and what came of it. */
function ownEnd(send: (message: FromProcess, worker: EventEmitter) => unknown) {
  const worker: EventEmitter = Object.assign(new EventEmitter(), {
    isConnected: () => true,
    send: (message: FromProcess) => send(message, worker),
  });
  const listeners: ((message: ToProcess) => void)[] = [];
  const clock = steppedClock();
  const listen = (listener: (message: ToProcess) => void) => void listeners.push(listener);
  const port = portOf({ worker: worker as unknown as Worker, clock, log, listen });
  const events: string[] = [];
  port.listen({
    messages: (messages) => events.push(...messages.map(({ kind }) => kind)),
    opened: () => events.push("opened"),
    closed: () => events.push("closed"),
  });
  const hear = (message: ToProcess) => listeners.forEach((listener) => listener(message));
  return { worker, port, clock, events, hear };
}

it("goes on when the primary was killed and something is sent before that is noticed", () => {
  // As Node tells of a channel whose other end is closed.
  const { worker, port, events } = ownEnd((_message, channel) =>
    channel.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
  );
  port.send([{ kind: "leave" }]);
  expect(events).toEqual([]);
  worker.emit("disconnect");
  expect(events).toEqual(["closed"]);
});

it("is closed while a primary that lives answers nothing, and opened anew once it answers what was asked since", () => {
  const asked: number[] = [];
  const sent: string[] = [];
  const { port, clock, events, hear } = ownEnd((message) => {
    sent.push(message.kind);
    if (message.kind === "alive?") asked.push(message.number);
  });
  const answer = (number = 0) => hear({ kind: "alive", number });
  const news: ToProcess = { kind: "room", messages: [{ kind: "members", members: [] }] };
  answer(asked.at(-1));
  clock.move(1_000);
  answer(asked.at(-1));
  // Once is no sign: it may be this process that is late.
  clock.move(1_000);
  hear(news);
  clock.move(2_000);
  expect([port.isOpen, ...events]).toEqual([true, "members"]);
  const before = asked.at(-1);
  clock.move(1_000);
  expect([port.isOpen, ...events]).toEqual([false, "members", "closed"]);
  sent.length = 0;
  port.send([{ kind: "leave" }]);
  expect(sent).toEqual([]);
  clock.move(60_000);
  // It goes on with what came before, of which nobody wants to know any more.
  hear(news);
  answer(before);
  expect([port.isOpen, ...events]).toEqual([false, "members", "closed"]);
  answer(asked.at(-1));
  expect([port.isOpen, ...events]).toEqual([true, "members", "closed", "opened"]);
  port.send([{ kind: "leave" }]);
  expect(sent).toContain("room");
});
